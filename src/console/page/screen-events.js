/** The audit trail, in sentences. */
import { may } from './api.js'
import { button, element, facts, field, say, time, words } from './elements.js'
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

/** `more`: what else the screen knows of the event. */
const sentenceOf = (more) => (event) => {
  const { type, outcome, data } = event
  const fields = Array.isArray(data.fields) ? data.fields.map((name) => words[`field:${name}`] ?? name) : []
  const sentence = [words[PREFIX + type] ?? type, fields.join(', '), more(event)]
    .filter(Boolean)
    .join(say('colon'))
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

/** A sign-in is two events, or three on this page: it is said once. */
const saidBy = {
  'session.started': ['login.succeeded', 'administrator.signed_in'],
  'login.succeeded': ['administrator.signed_in'],
}
export const mergeEvents = (events) =>
  events.filter(
    ({ type, session_id: session }) =>
      !session || !events.some((other) => other.session_id === session && saidBy[type]?.includes(other.type)),
  )

export const eventColumns = (withAccount, more = () => '') => [
  [say('when'), ({ created_at: at }) => time(at)],
  [say('event'), sentenceOf(more)],
  ...(withAccount
    ? [
        [
          say('account'),
          ({ account, account_name: name }) =>
            account &&
            element(
              'a',
              { href: `#/accounts/${account}`, class: 'cut', title: name ?? account },
              name ?? account.slice(0, 8),
            ),
        ],
      ]
    : []),
  [say('by'), byCell],
  [say('details'), details],
]

/** The name of somebody of the team leads to what they did. */
function byCell(event) {
  const { type, name } = event.actor
  const label = actorOf(event)
  return type === 'administrator' && name !== null
    ? element('a', { href: `#/events?actor=${encodeURIComponent(name)}`, class: 'cut', title: label }, label)
    : element('span', { class: 'cut', title: label }, label)
}

const actorTypes = ['administrator', 'token', 'operator', 'account', 'system']

/** The days that were chosen, as times: from the beginning of the first to the end of the last, where the reader is. */
function spanOf({ from, to, ...values }) {
  const midnight = (day, later) => {
    const [year, month, date] = day.split('-').map(Number)
    return new Date(year, month - 1, date + later).toISOString()
  }
  return {
    ...values,
    ...(from && { since: midnight(from, 0) }),
    ...(to && { until: midnight(to, 1) }),
    ...(may('accounts:read') && { names: 'true' }),
  }
}

const today = () => {
  const now = new Date()
  const two = (number) => String(number).padStart(2, '0')
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`
}

/** The question that is asked most, by one click, and the way back to everything. */
function shortcuts(form) {
  const fill = (values) => () => {
    for (const control of form.elements) if (control.name) control.value = values[control.name] ?? ''
    form.requestSubmit()
  }
  return [
    button(say('team_today'), fill({ actor_type: 'administrator', from: today() }), 'small'),
    button(say('clear_filters'), fill({}), 'small'),
  ]
}

export function eventsScreen(search) {
  const fields = [
    field('account', say('person'), {
      type: 'search',
      value: search.account ?? '',
      placeholder: say('search_people_hint'),
      autocomplete: 'off',
    }),
    field('actor', say('colleague'), {
      type: 'search',
      value: search.actor ?? '',
      placeholder: say('search_colleague_hint'),
      autocomplete: 'off',
    }),
    field('type', say('event'), { options: [['', say('any')], ...typesSaid()], value: search.type }),
    field('actor_type', say('by'), {
      options: [['', say('anybody')], ...actorTypes.map((type) => [type, say(`by_${type}`)])],
      value: search.actor_type,
    }),
    field('from', say('from_day'), { type: 'date', value: search.from ?? '' }),
    field('to', say('to_day'), { type: 'date', value: search.to ?? '' }),
  ]
  const [form, list] = filteredList('events', fields, () => eventColumns(true), {
    merge: mergeEvents,
    empty: say('no_events'),
    ask: spanOf,
  })
  return [
    element('div', { class: 'row between' }, [
      element('h1', {}, say('events')),
      element('div', { class: 'row' }, shortcuts(form)),
    ]),
    form,
    list,
  ]
}
