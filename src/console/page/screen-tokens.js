/** Tokens of scripts and back ends. */
import { call, session } from './api.js'
import { announce, copyable, dialog, showOnce } from './dialogs.js'
import { button, element, emptyState, say, titleRow, twoLines } from './elements.js'
import { choice, field, listOf } from './forms.js'
import { pagedTable } from './pages.js'
import { nameOfActor } from './screen-events.js'
import { daysField } from './screen-prefixes.js'
import { dayAndHour, dayAndHourOf, time } from './times.js'

export async function tokensScreen(_search, refresh) {
  const columns = [
    [
      say('name'),
      ({ name, scopes }) => twoLines(name, element('code', { class: 'wraps' }, scopes.join(', '))),
      'first',
    ],
    [say('made_by'), ({ created_by: by }) => nameOfActor(by), 'soft less'],
    [say('made'), ({ created_at: at }) => dayAndHour(at), 'soft less'],
    [say('addresses'), ({ addresses }) => addresses.join(', ') || say('any_feminine'), 'soft less'],
    [say('last_used'), ({ last_used_at: at }) => time(at) || say('never'), 'soft named'],
    [say('expires'), ({ expires_at: at }) => time(at), 'soft named'],
    ['', (token) => button(say('revoke'), () => revoke(token, refresh), 'removes'), 'acts'],
  ]
  const make = () => createToken(refresh)
  const empty = emptyState(say('no_tokens'), button(say('new_token'), make, '', 'plus'))
  return [
    titleRow(say('tokens'), button(say('new_token'), make, 'main', 'plus')),
    element('div', { class: 'card list' }, await pagedTable('tokens', {}, columns, { empty })),
  ]
}

/** The rights by what they are for; a new one stands among the last. */
const kinds = {
  read: ['accounts:read', 'messages:read', 'events:read', 'invitations:read', 'sessions:watch'],
  help: ['limits:write', 'sessions:write', 'messages:write', 'accounts:recover'],
  change: ['accounts:write', 'accounts:export', 'accounts:erase', 'invitations:write'],
}

/** The rights that the administrator has, with a sentence for each. */
function scopeFields() {
  const known = new Set(Object.values(kinds).flat())
  const all = { ...kinds, keys: session.scopes.filter((scope) => !known.has(scope)) }
  return Object.entries(all)
    .map(([kind, scopes]) => [kind, scopes.filter((scope) => session.scopes.includes(scope))])
    .filter(([, scopes]) => scopes.length > 0)
    .map(([kind, scopes]) =>
      element('fieldset', {}, [
        element('legend', {}, say(`scopes_${kind}`)),
        ...scopes.map((scope) =>
          choice(`scope ${scope}`, twoLines(say(`scope:${scope}`), element('code', {}, scope))),
        ),
      ]),
    )
}

async function createToken(refresh) {
  const token = await dialog(
    say('new_token'),
    [
      field('name', say('name'), { required: true }),
      daysField('days', say('expires'), ['30', '90', '365'], '90'),
      field('addresses', say('addresses'), { hint: say('addresses_hint') }),
      ...scopeFields(),
    ],
    {
      label: say('create'),
      async submit({ name, days, addresses, ...rest }) {
        const wanted = Object.keys(rest).map((key) => key.replace('scope ', ''))
        const body = { name: name ?? '', scopes: wanted, expires_in: `${days}d` }
        if (addresses) body.addresses = listOf(addresses)
        return (await call('POST', 'tokens', body)).token
      },
    },
  )
  if (!token) return
  showOnce(say('token_made'), [
    element('p', {}, say('shown_once')),
    copyable(typeof token === 'string' ? token : token.token),
  ])
  refresh()
}

async function revoke({ id, name, created_at: madeAt }, refresh) {
  const title = say('revoke_token', { name, time: dayAndHourOf(madeAt) })
  const done = await dialog(title, element('p', {}, say('revoke_token_why')), {
    label: say('revoke'),
    danger: true,
    submit: () => call('DELETE', `tokens/${id}`),
  })
  if (!done) return
  announce(say('revoked_done', { name }))
  refresh()
}
