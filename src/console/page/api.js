/** The interface under /admin/v1, as the page calls it: the same that scripts use, with a cookie in place of a token. */
import { readOptions, writeCredential } from './credentials.js'
import { dialog } from './dialogs.js'
import { element, say } from './elements.js'
import { field } from './forms.js'

export class Refusal extends Error {
  constructor(status, { message, code, errors = [] }) {
    super(message ?? String(status))
    Object.assign(this, { status, code, errors })
  }
}

/** The administrator who is signed in: `{administrator, scopes, csrf_token}`; null before the sign-in. */
export let session = null
let signedOut = () => {}

export const whenSignedOut = (listener) => {
  signedOut = listener
}

export async function readSession() {
  try {
    session = await send('GET', 'session')
  } catch (error) {
    if (error.status !== 401) throw error
    session = null
  }
  return session
}

export const may = (scope) => session.scopes.includes(scope)
export const isOwner = () => session.administrator.role === 'owner'

/** One request; throws a Refusal. */
export async function send(method, path, body) {
  let answer
  try {
    answer = await fetch(`/admin/v1/${path}`, {
      method,
      headers: {
        'accept-language': document.documentElement.lang,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(session && { 'x-csrf-token': session.csrf_token }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  } catch {
    throw new Refusal(0, { message: say('no_answer') })
  }
  const content = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Refusal(answer.status, content)
  return content
}

/** The same inside the session: asks for password and second factor again where that is due. */
export async function call(method, path, body) {
  try {
    return await send(method, path, body)
  } catch (error) {
    if (error.code === 'reauthentication_required') {
      // Who cancels knows it: nothing is said.
      if (!(await reauthenticate())) throw new Refusal(0, { message: '', code: 'cancelled' })
      return send(method, path, body)
    }
    if (error.status === 401) {
      session = null
      signedOut()
    }
    throw error
  }
}

/** `{a: 1, b: undefined}` as `?a=1`. */
export const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return given.length > 0 ? `?${new URLSearchParams(given)}` : ''
}

async function reauthenticate() {
  return dialog(
    say('again_title'),
    [
      element('p', {}, say('again_why')),
      field('password', say('password'), {
        type: 'password',
        autocomplete: 'current-password',
        required: true,
      }),
      field('otp', say('app_code'), {
        hint: say('or_passkey'),
        inputmode: 'numeric',
        autocomplete: 'one-time-code',
      }),
    ],
    {
      label: say('go_on'),
      async submit({ password = '', otp }) {
        const proof = otp === undefined ? { credential: await signWithPasskey() } : { otp }
        const { csrf_token } = await send('POST', 'session/reauthenticate', { password, ...proof })
        session = { ...session, csrf_token }
      },
    },
  )
}

/** Returns the value of `credential`: the signature of a passkey over options of the service. */
export async function signWithPasskey() {
  const { options } = await send('POST', 'session/passkey')
  try {
    return writeCredential(await navigator.credentials.get({ publicKey: readOptions(options) }))
  } catch ({ name }) {
    const address = options.rpId === 'localhost' ? `http://localhost:${location.port}/admin/` : options.rpId
    const isElsewhere = name === 'SecurityError'
    throw new Refusal(0, { message: say(isElsewhere ? 'passkey_wrong_address' : 'no_passkey', { address }) })
  }
}
