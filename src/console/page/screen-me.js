/** The administrator who is signed in: their role, and their passkeys. */
import { call, makePasskey, session } from './api.js'
import {
  announce,
  button,
  card,
  dialog,
  element,
  exactTime,
  facts,
  field,
  say,
  table,
  time,
} from './elements.js'

export async function meScreen(_search, refresh) {
  const { administrator, ends_at: endsAt } = session
  const { email, phone, role, uuid } = administrator
  const { passkeys, can_add: canAdd, origin } = await call('GET', 'session/passkeys')
  const columns = [
    [say('name'), ({ name }) => name],
    [say('created'), ({ created_at: at }) => time(at)],
    [say('last_used'), ({ last_used_at: at }) => time(at)],
  ]
  return [
    element('h1', {}, say('me')),
    card(email ?? phone ?? uuid, [
      facts([
        [say('role'), say(`role_${role}`)],
        [say('session_ends'), exactTime(endsAt)],
      ]),
    ]),
    card(say('passkeys'), [
      passkeys.length > 0 ? table(columns, passkeys) : element('p', { class: 'soft' }, say('passkeys_why')),
      canAdd && (origin === location.origin ? addButton(refresh) : elsewhere(origin)),
    ]),
  ]
}

const addButton = (refresh) =>
  element(
    'div',
    { class: 'row end' },
    button(say('add_passkey'), () => add(refresh)),
  )

/** A passkey belongs to a name: a browser makes none at an address of numbers. */
function elsewhere(origin) {
  const address = `${origin}/admin/#/me`
  return element('p', {}, [say('passkey_elsewhere'), ' ', element('a', { href: address }, address)])
}

async function add(refresh) {
  const added = await dialog(
    say('add_passkey'),
    [
      element('p', {}, say('add_passkey_how')),
      field('name', say('passkey_name'), { maxlength: 120, hint: say('passkey_name_hint') }),
    ],
    {
      label: say('go_on'),
      submit: async ({ name }) =>
        call('POST', 'session/passkeys', {
          credential: await makePasskey(await call('POST', 'session/passkeys/options')),
          ...(name && { name }),
        }),
    },
  )
  if (!added) return
  announce(say('passkey_added', { name: added.passkey.name }))
  refresh()
}
