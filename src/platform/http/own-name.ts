/**
 * Under --dev the service is known as `localhost`, and answers at the addresses of this machine as well. A page that is
 * opened there leads to the name: cookies, passkeys and the hand-over belong to one.
 */

/** Returns nothing where the service has a name of its own. Whatever asks for JSON is answered under both names. */
export function ownNameOf(baseUrl: string) {
  const { hostname, host, origin } = new URL(baseUrl)
  if (hostname !== 'localhost') return undefined
  const others = ['127.0.0.1', '[::1]'].map((address) => host.replace('localhost', address))
  return (request: Request): Response | null => {
    if (!others.includes(request.headers.get('host') ?? '')) return null
    const { pathname, search } = new URL(request.url)
    return new Response(null, { status: 303, headers: { location: `${origin}${pathname}${search}` } })
  }
}
