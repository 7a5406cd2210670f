// The options and answers of passkeys as JSON, by hand: Safari has helpers for it only since 18.4.

const toBytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0))
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')
const withBytes = (named) => ({ ...named, id: toBytes(named.id) })

// The value of `publicKey`, for a new passkey and for the use of one.
export const readOptions = ({ challenge, user, allowCredentials, excludeCredentials, ...options }) => ({
  ...options,
  challenge: toBytes(challenge),
  user: user && withBytes(user),
  allowCredentials: allowCredentials?.map(withBytes),
  excludeCredentials: excludeCredentials?.map(withBytes),
})

export function writeCredential({ id, type, response }) {
  const written = { transports: response.getTransports?.() }
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'])
    if (response[name]) written[name] = toText(response[name])
  return { id, rawId: id, type, response: written }
}
