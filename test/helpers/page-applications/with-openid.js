/** An application in the browser that signs in by oidc-client-ts and OpenID Connect, without a secret. */
import { OidcClient, WebStorageStateStore } from 'oidc-client-ts'

const client = new OidcClient({
  authority: 'https://auth.example.com/oauth2',
  client_id: 'page',
  redirect_uri: location.origin + location.pathname,
  scope: 'openid email',
  loadUserInfo: true,
  stateStore: new WebStorageStateStore({ store: sessionStorage }),
})

document.querySelector('button').onclick = async () => {
  const { url } = await client.createSigninRequest({ nonce: crypto.randomUUID() })
  location.assign(url)
}

if (location.search) {
  const { href } = location
  history.replaceState(null, '', location.pathname)
  const { profile } = await client.processSigninResponse(href)
  document.querySelector('p').textContent = `Signed in as ${profile.email}.`
}
