/** The audit trail, in sentences. */
import { element, facts, field, say, time, words } from './elements.js'
import { filteredList } from './pages.js'

const PREFIX = 'event:'
const typesSaid = () =>
  Object.keys(words)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => [key.slice(PREFIX.length), words[key]])
    .sort(([, one], [, other]) => one.localeCompare(other))

/** Anybody can try a password: a failure is not the owner's. */
const actorOf = ({ actor, outcome }) =>
  actor.type === 'account' && outcome === 'failure'
    ? say('somebody')
    : (actor.name ?? say(`actor_${actor.type}`))

const sentenceOf = ({ type, outcome, data }) => {
  const fields = Array.isArray(data.fields) ? data.fields.map((name) => words[`field:${name}`] ?? name) : []
  const sentence = [words[PREFIX + type] ?? type, fields.join(', ')].filter(Boolean).join(': ')
  return element('span', { class: outcome === 'failure' ? 'failed' : '' }, sentence)
}

const fromOf = ({ device, address, count }) =>
  [device, address, count > 1 && `${count} ×`].filter(Boolean).join(' · ')

/** The fields that programs use, behind a click. */
function details(event) {
  const rest = Object.entries(event.data).map(([key, value]) => [
    key.replaceAll('_', ' '),
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return element('div', {}, [
    fromOf(event),
    element('details', {}, [
      element('summary', { class: 'soft' }, say('more_about_it')),
      facts([[say('event'), element('code', {}, event.type)], ...rest]),
    ]),
  ])
}

/** A sign-in is two events: the session that it opened is not said again. */
export const mergeEvents = (events) =>
  events.filter(
    (event) =>
      event.type !== 'session.started' ||
      !events.some(
        (other) =>
          other.type === 'login.succeeded' && other.session_id === event.session_id && event.session_id,
      ),
  )

export const eventColumns = (withAccount) => [
  [say('when'), ({ created_at: at }) => time(at)],
  [say('event'), sentenceOf],
  ...(withAccount
    ? [
        [
          say('account'),
          ({ account }) =>
            account && element('a', { href: `#/accounts/${account}`, class: 'short' }, account.slice(0, 8)),
        ],
      ]
    : []),
  [say('by'), (event) => element('span', { class: 'cut', title: actorOf(event) }, actorOf(event))],
  [say('details'), details],
]

export function eventsScreen(search) {
  const fields = [
    field('account', say('person'), {
      type: 'search',
      value: search.account ?? '',
      placeholder: say('search_people_hint'),
      autocomplete: 'off',
      spellcheck: 'false',
    }),
    field('type', say('event'), { options: [['', say('any')], ...typesSaid()], value: search.type }),
  ]
  return [
    element('h1', {}, say('events')),
    ...filteredList('events', fields, () => eventColumns(true), {
      merge: mergeEvents,
      empty: say('no_events'),
    }),
  ]
}
