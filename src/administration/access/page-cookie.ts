/** The cookies of the page of administration. Scripts cannot read them, and browsers send them to the page's own requests alone. */
import { readCookies } from '../../platform/http/redirect.ts'

/** `secure`: over TLS only, and never from another host of the domain (`__Host-`, which requires the whole host). */
function createPageCookie(name: string, secure: boolean) {
  const fullName = secure ? `__Host-${name}` : name
  const attributes = `HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  /** Set-Cookie headers. On loopback other services have the same host: they get it for these paths alone. */
  const write = (value: string, lifetimeMs: number) =>
    (secure ? ['/'] : ['/admin', '/account']).map(
      (path) => `${fullName}=${value}; Path=${path}; ${attributes}; Max-Age=${Math.floor(lifetimeMs / 1000)}`,
    )
  return {
    /** It is undefined if the request brings none. */
    read: (header: string | undefined) => readCookies(header).get(fullName),
    write,
    remove: () => write('', 0),
  }
}

export const createPageCookies = ({ secure }: { secure: boolean }) => ({
  /** Names the sign-in, and then the session. */
  session: createPageCookie('poterne_admin', secure),
  /** Names the browser, so that what strangers try does not refuse who signed in with it before. */
  device: createPageCookie('poterne_admin_device', secure),
})

export type PageCookies = ReturnType<typeof createPageCookies>
