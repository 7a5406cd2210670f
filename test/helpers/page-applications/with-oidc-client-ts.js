/** An application in the browser that signs in by oidc-client-ts, as a client of OAuth. */
import { OidcClient, WebStorageStateStore } from 'oidc-client-ts'

const issuer = 'https://auth.example.com'
const client = new OidcClient({
  authority: issuer,
  metadataUrl: `${issuer}/.well-known/oauth-authorization-server`,
  client_id: 'web',
  redirect_uri: location.origin + location.pathname,
  // Its default is "openid", which belongs to OpenID Connect; it takes no empty one, and this one is ignored.
  scope: 'account',
  stateStore: new WebStorageStateStore({ store: sessionStorage }),
})

document.querySelector('button').onclick = async () => {
  const { url } = await client.createSigninRequest({})
  location.assign(url)
}

if (location.search) {
  const { href } = location
  history.replaceState(null, '', location.pathname)
  const { access_token } = await client.processSigninResponse(href)
  const me = await fetch(`${issuer}/api/v1/auth/me`, { headers: { authorization: `Bearer ${access_token}` } })
  const { account } = await me.json()
  document.querySelector('p').textContent = `Signed in as ${account.email}.`
}
