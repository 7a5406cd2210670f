/**
 * Sign in through a provider, for a web app: two calls. `api` is `https://auth.example.com/api/v1/auth`; the page's
 * origin stands in server.cors_origins, and `redirectUri` in social.redirect_uris.
 */

const KEY = 'social sign-in'

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)))

/** For the buttons: `[{ name, authorize_url }]`. */
export async function listProviders(api) {
  const response = await fetch(`${api}/social`)
  return (await response.json()).providers
}

/** The page goes to the provider, and comes back to `redirectUri`. What must stay secret stays in this tab. */
export async function beginSignIn(provider, redirectUri) {
  const verifier = random()
  const state = random()
  sessionStorage.setItem(KEY, JSON.stringify({ verifier, state }))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const code_challenge = base64url(new Uint8Array(digest))
  const query = new URLSearchParams({ redirect_uri: redirectUri, code_challenge, state })
  location.assign(`${provider.authorize_url}?${query}`)
}

/**
 * On the page of `redirectUri`: what login answers, 200 with the tokens or 202 with `two_factor`. Throws the code of
 * what went wrong, e.g. `access_denied`.
 */
export async function finishSignIn(api) {
  const answer = new URLSearchParams(location.search)
  // The code is not for the history, nor for whoever gets a copied address.
  history.replaceState(null, '', location.pathname)
  const begun = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
  sessionStorage.removeItem(KEY)
  if (begun === null || answer.get('state') !== begun.state) throw new Error('invalid_state')
  if (answer.has('error')) throw new Error(answer.get('error'))
  const response = await fetch(`${api}/social/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      code: answer.get('code'),
      code_verifier: begun.verifier,
      device_type: 'Navigateur',
    }),
  })
  const body = await response.json()
  if (!response.ok) throw new Error(body.code)
  return body
}
