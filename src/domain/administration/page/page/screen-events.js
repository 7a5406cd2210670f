/** The audit trail. */
import { element, field, say, tag, time } from './elements.js'
import { filters, pagedTable } from './pages.js'

const actorOf = ({ actor }) =>
  actor.name ??
  (actor.id === null ? say(`actor_${actor.type}`) : `${say(`actor_${actor.type}`)} ${actor.id.slice(0, 8)}`)

const detailsOf = ({ data, address, device }) =>
  [
    ...Object.entries(data).map(
      ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
    address,
    device,
  ]
    .filter((part) => part !== null && part !== undefined)
    .join(' · ')

export const eventColumns = (withAccount) => [
  [say('when'), ({ created_at: at }) => time(at)],
  [
    say('event'),
    ({ type, outcome }) =>
      outcome === 'failure' ? tag(type, 'wrong') : element('code', { class: 'short' }, type),
  ],
  ...(withAccount
    ? [
        [
          say('account'),
          ({ account }) =>
            account && element('a', { href: `#/accounts/${account}`, class: 'short' }, account.slice(0, 8)),
        ],
      ]
    : []),
  [say('by'), actorOf],
  [say('details'), detailsOf],
]

export async function eventsScreen(search) {
  return [
    element('h1', {}, say('events')),
    filters('events', [
      field('type', say('event'), { value: search.type ?? '', placeholder: 'login.failed' }),
      field('account', say('account_uuid'), { value: search.account ?? '' }),
    ]),
    element('div', { class: 'card' }, await pagedTable('events', search, eventColumns(true))),
  ]
}
