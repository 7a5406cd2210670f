/** The audit trail, in sentences. */
import { may } from './api.js'
import { showOnce } from './dialogs.js'
import {
  breakable,
  button,
  deviceName,
  element,
  facts,
  icon,
  rowButton,
  say,
  titleRow,
  twoLines,
  words,
} from './elements.js'
import { dayField, field, searchField } from './forms.js'
import { filteredList } from './pages.js'
import { clockTime, dayNameOf, exactTime } from './times.js'

const PREFIX = 'event:'
const typesSaid = () =>
  Object.keys(words)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => [key.slice(PREFIX.length), words[key]])
    .sort(([, one], [, other]) => one.localeCompare(other))

/** By the first part of a type, or the whole of it. */
const icons = {
  'account.viewed': 'eye',
  'accounts.listed': 'eye',
  'account.locked': 'lock',
  'account.unlocked': 'unlock',
  account: 'person',
  login: 'enter',
  session: 'laptop',
  administrator: 'shield',
  'administrator.signed_in': 'enter',
  two_factor: 'shield',
  recovery_code: 'shield',
  recovery_codes: 'shield',
  trusted_device: 'laptop',
  passkey: 'passkey',
  password: 'key',
  recovery: 'key',
  identifier: 'mail',
  confirmation: 'mail',
  identity: 'link',
  invitation: 'mail',
  token: 'key',
  key: 'key',
  limits: 'clock',
  undo: 'back',
}

export const iconOf = ({ type, outcome }) =>
  outcome === 'failure' ? 'alert' : (icons[type] ?? icons[type.split('.')[0]] ?? 'info')

/** Names an actor. An operator has the name of a login of the machine. */
export const nameOfActor = ({ type, name }) =>
  type === 'operator' && name !== null ? say('operator_named', { name }) : (name ?? say(`actor_${type}`))

/** Anybody can try a password: a failure is not the owner's. */
export const isSomebody = ({ actor, outcome }) => actor.type === 'account' && outcome === 'failure'

const actorOf = (event) => (isSomebody(event) ? say('somebody') : nameOfActor(event.actor))

const nothingMore = () => ''

/** `more`: what else the screen knows of the event. */
export const sentenceOf = (more) => (event) => {
  const { type, outcome, data } = event
  const fields = Array.isArray(data.fields) ? data.fields.map((name) => words[`field:${name}`] ?? name) : []
  const sentence = [words[PREFIX + type] ?? type, fields.join(', '), more(event)]
    .filter(Boolean)
    .join(say('colon'))
  return element('span', { class: outcome === 'failure' ? 'failed' : '' }, breakable(sentence))
}

const fromOf = ({ device, address, count }) =>
  [device && deviceName(device), address, count > 1 && `${count} ×`].filter(Boolean).join(' · ')

/** Everything about one event, with the fields that programs use. `times`: when the same happened, newest first. */
export function showEvent(event, more = nothingMore, times = [event.created_at]) {
  const { type, account, account_name: name } = event
  const rest = Object.entries(event.data).map(([key, value]) => [
    key.replaceAll('_', ' '),
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  showOnce(sentenceOf(more)(event), [
    facts([
      [say('when'), times.map((at) => element('div', {}, exactTime(at)))],
      [say('person'), account && element('a', { href: `#/accounts/${account}` }, name ?? account)],
      [say('by'), actorOf(event)],
      [say('details'), fromOf(event)],
      [say('event'), element('code', {}, type)],
      ...rest,
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

/** Nothing was changed. */
const looks = new Set(['account.viewed', 'accounts.listed'])

const sayPlainly = sentenceOf(nothingMore)

const eventColumns = () => [
  [
    say('event'),
    (event) =>
      rowButton(
        () => showEvent(event),
        [
          icon(iconOf(event)),
          twoLines(
            element('span', { class: looks.has(event.type) && 'soft' }, sayPlainly(event)),
            fromOf(event),
          ),
        ],
        event.outcome === 'failure' ? 'bad' : '',
      ),
    'first',
  ],
  [say('person'), personCell],
  [say('by'), byCell, 'named'],
  [say('when'), ({ created_at: at }) => clockTime(at), 'when'],
]

const personCell = ({ account, account_name: name }) =>
  account ? element('a', { href: `#/accounts/${account}` }, breakable(name ?? account.slice(0, 8))) : ''

/** The name of somebody of the team leads to what they did. What people do themselves has their name already. */
function byCell(event) {
  const { type, id, name } = event.actor
  if (id !== null && id === event.account && !isSomebody(event)) return ''
  const label = actorOf(event)
  return type === 'administrator' && name !== null
    ? element('a', { href: `#/events?actor=${encodeURIComponent(name)}` }, breakable(label))
    : element('span', {}, label)
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

/** The day that many days ago, as a date field writes it, where the reader is. */
function dayBefore(days) {
  const then = new Date()
  then.setDate(then.getDate() - days)
  const two = (number) => String(number).padStart(2, '0')
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`
}

/** The question that is asked most, by one click, and the way back to everything. */
function shortcuts(form) {
  const fill = (values) => () => {
    for (const control of form.elements) {
      if (!control.name) continue
      control.value = values[control.name] ?? ''
      control.dispatchEvent(new Event('change'))
    }
    const folded = form.querySelector('details')
    if (folded) folded.open = Object.keys(values).length > 0
    form.requestSubmit()
  }
  const spans = [
    ['today', { from: dayBefore(0) }],
    ['yesterday', { from: dayBefore(1), to: dayBefore(1) }],
    ['seven_days', { from: dayBefore(6) }],
  ].map(([label, days]) => {
    const values = { actor_type: 'administrator', ...days }
    return { values, made: button(say(label), fill(values)) }
  })
  const clear = button(say('clear_filters'), clearAll, 'link')
  function clearAll() {
    fill({})()
    // It is hidden now.
    spans.at(-1).made.focus()
  }
  const asks = (values) =>
    [...form.elements].every(({ name, value }) => !name || value === (values[name] ?? ''))
  const follow = () => {
    clear.hidden = asks({})
    for (const { values, made } of spans) made.setAttribute('aria-pressed', asks(values))
  }
  for (const moment of ['input', 'submit']) form.addEventListener(moment, follow)
  follow()
  return [element('span', { class: 'soft' }, say('team_did')), ...spans.map(({ made }) => made), clear]
}

export function eventsScreen(search) {
  const fields = [
    searchField('account', say('person'), {
      value: search.account ?? '',
      placeholder: say('search_people_hint'),
      labelled: true,
    }),
    field('type', say('event'), { options: [['', say('any')], ...typesSaid()], value: search.type }),
    field('actor_type', say('by'), {
      options: [['', say('anybody')], ...actorTypes.map((type) => [type, say(`by_${type}`)])],
      value: search.actor_type,
    }),
    field('actor', say('team_member'), {
      type: 'search',
      value: search.actor ?? '',
      placeholder: say('team_member_hint'),
      autocomplete: 'off',
    }),
    dayField('from', say('from_day'), search.from),
    dayField('to', say('to_day'), search.to),
  ]
  const [form, list] = filteredList('events', fields, eventColumns, {
    merge: mergeEvents,
    empty: say('no_events'),
    ask: spanOf,
    dayOf: ({ created_at: at }) => dayNameOf(at),
  })
  return [titleRow(say('events'), shortcuts(form)), form, list]
}
