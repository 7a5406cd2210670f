/** The administrator who is signed in: their role, and the way to their passkeys. */
import { session } from './api.js'
import { card, element, facts, say } from './elements.js'
import { momentOf } from './times.js'

export async function meScreen() {
  const { administrator, ends_at: endsAt, passkeys_url: passkeys } = session
  const { email, phone, role, uuid } = administrator
  return [
    element('h1', {}, say('me')),
    card(email ?? phone ?? uuid, [
      facts([
        [say('role'), say(`role_${role}`)],
        [say('session_ends'), momentOf(endsAt)],
      ]),
    ]),
    passkeys && card(say('passkeys'), element('p', {}, wayTo(passkeys))),
  ].filter(Boolean)
}

/** A passkey belongs to a name: a browser makes none at an address of numbers. */
const wayTo = (address) =>
  new URL(address).origin === location.origin
    ? element('a', { href: address }, say('manage_passkeys'))
    : [say('passkey_elsewhere'), ' ', element('a', { href: address }, address)]
