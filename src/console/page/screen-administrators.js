/** Shows who may sign in here, and with which role. */
import { call, session } from './api.js'
import { announce, dialog } from './dialogs.js'
import { avatar, button, element, rowLink, say, titleRow, twoLines } from './elements.js'
import { field } from './forms.js'
import { pagedTable } from './pages.js'
import { nameOf } from './screen-accounts.js'
import { time } from './times.js'

const roles = () => ['viewer', 'support', 'owner'].map((role) => [role, say(`role_${role}`)])

const isMe = ({ uuid }) => uuid === session.administrator.uuid

export async function administratorsScreen(_search, refresh) {
  let owners = Number.POSITIVE_INFINITY
  const read = ({ items, next_cursor: next }) => {
    if (next === null) owners = items.filter(({ role }) => role === 'owner').length
  }
  const isOnlyOwner = ({ role }) => role === 'owner' && owners === 1
  const columns = [
    [
      say('account'),
      (one) =>
        rowLink(`#/accounts/${one.uuid}`, [
          avatar(nameOf(one)),
          twoLines(nameOf(one), isMe(one) && say('you')),
        ]),
      'first',
    ],
    [say('role'), (one) => [say(`role_${one.role}`), ' ', !isMe(one) && changeLink(one, refresh)]],
    [say('since'), ({ created_at: at }) => time(at), 'soft less'],
    [say('last_sign_in'), ({ last_signed_in_at: at }) => time(at) || say('never'), 'when'],
    [
      '',
      (one) =>
        isOnlyOwner(one)
          ? element('span', { class: 'soft' }, say('only_owner'))
          : button(say('remove'), () => remove(one, refresh), 'removes'),
      'acts',
    ],
  ]
  return [
    titleRow(
      say('administrators'),
      button(say('add_administrator'), () => add(refresh), 'main', 'plus'),
    ),
    element('p', { class: 'lead' }, say('roles_explained')),
    element('div', { class: 'card list' }, await pagedTable('administrators', {}, columns, { read })),
  ]
}

const roleField = (value) => field('role', say('role'), { options: roles(), value })

const changeLink = (one, refresh) =>
  button(
    [say('change'), element('span', { class: 'hidden' }, ` ${nameOf(one)}`)],
    () => change(one, refresh),
    'link',
  )

async function change(one, refresh) {
  const title = [say('role'), nameOf(one)].join(say('colon'))
  const done = await dialog(title, roleField(one.role), {
    label: say('save'),
    submit: ({ role }) => call('POST', 'administrators', { account: one.uuid, role }),
  })
  if (!done) return
  announceChange(say('changes_saved'), done)
  refresh()
}

async function add(refresh) {
  const done = await dialog(
    say('add_administrator'),
    [field('account', say('account_named'), { required: true, autocomplete: 'off' }), roleField('viewer')],
    {
      label: say('add'),
      submit: ({ account = '', role }) => call('POST', 'administrators', { account, role }),
    },
  )
  if (!done) return
  announceChange(say('administrator_added', { name: nameOf(done.administrator) }), done)
  refresh()
}

/** Tokens that go beyond the new role are revoked with it. */
function announceChange(sentence, { revoked_tokens: count }) {
  announce(count ? `${sentence} ${say('tokens_revoked', { count })}` : sentence)
}

async function remove(one, refresh) {
  const done = await dialog(
    say('remove_administrator', { name: nameOf(one) }),
    [
      element('p', {}, say('remove_administrator_why')),
      isMe(one) && element('p', {}, element('b', {}, say('you_leave'))),
    ],
    {
      label: say('remove'),
      submit: () => call('DELETE', `administrators/${one.uuid}`),
    },
  )
  if (!done) return
  announceChange(say('administrator_removed', { name: nameOf(one) }), done)
  refresh()
}
