/** An application in the browser that signs in by oauth4webapi. */
import * as oauth from 'oauth4webapi'

const issuer = new URL('https://auth.example.com')
const client = { client_id: 'web' }
const redirectUri = location.origin + location.pathname
const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' })
const server = await oauth.processDiscoveryResponse(issuer, found)

document.querySelector('button').onclick = async () => {
  const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()]
  sessionStorage.kept = JSON.stringify({ verifier, state })
  const url = new URL(server.authorization_endpoint)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  })
  location.assign(url)
}

if (location.search && sessionStorage.kept) {
  const { verifier, state } = JSON.parse(sessionStorage.kept)
  const back = new URL(location.href)
  sessionStorage.removeItem('kept')
  history.replaceState(null, '', location.pathname)
  const parameters = oauth.validateAuthResponse(server, client, back, state)
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    verifier,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer)
  document.querySelector('p').textContent = `Signed in as ${tokens.account.email}.`
}
