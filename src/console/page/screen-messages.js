/** The messages that were sent, and their outcomes; never their content. */
import { call, may } from './api.js'
import { announce, showOnce } from './dialogs.js'
import { badge, button, element, facts, rowButton, say, twoLines, words } from './elements.js'
import { field, searchField } from './forms.js'
import { filteredList } from './pages.js'
import { exactTime, locale, spanOf, time } from './times.js'

const states = ['waiting', 'sent', 'delivered', 'unknown', 'refused', 'expired']
/** That a message was sent is the usual state. */
const kinds = { waiting: '', unknown: 'warn', refused: 'bad', expired: 'bad' }

const stateCell = ({ state }) =>
  state in kinds
    ? badge(say(`state_${state}`), kinds[state])
    : element('span', { class: 'soft usual' }, say(`state_${state}`))

/** Those that may be sent again. */
const unsent = ['refused', 'unknown']
export const canBeSentAgain = ({ state }) => unsent.includes(state) && may('messages:write')

/** The purpose of a message: its own subject, where there is one. */
export const aboutOf = ({ purpose }) => words[`purpose:${purpose}`] ?? purpose.replaceAll('_', ' ')

const inSeconds = new Intl.NumberFormat(locale, { style: 'unit', unit: 'second', unitDisplay: 'long' })
/** Seconds too, which tell that a code came at once. */
const shortSpanOf = (seconds) =>
  seconds < 60 ? inSeconds.format(Math.max(1, Math.round(seconds))) : spanOf(seconds)

/** What became of the code of a message; undefined where it has none, or was not sent. */
export function codeFateOf({ state, code, code_used_at: usedAt, created_at: at }) {
  if (usedAt) return say('code_used_after', { span: shortSpanOf((new Date(usedAt) - new Date(at)) / 1000) })
  return code && (state === 'sent' || state === 'delivered') ? say(`code_${code}`) : undefined
}

const outcomeOf = (message) =>
  codeFateOf(message) ?? (message.state in kinds ? message.meaning?.replaceAll("'", '’') : undefined)

/** `refresh`: reads the list again after one was sent anew. */
export const messageColumns = (refresh) => [
  [
    say('message'),
    (message) =>
      rowButton(
        () => showMessage(message),
        twoLines(element('span', { class: 'wraps' }, aboutOf(message)), message.destination),
      ),
    'first',
  ],
  [say('state'), stateCell],
  [
    say('channel'),
    ({ channel, gateway }) => [say(`channel_${channel}`), gateway].filter(Boolean).join(' · '),
    'soft less',
  ],
  [say('what_became'), (message) => outcomeOf(message) ?? '', 'soft outcome'],
  [say('when'), ({ created_at: at }) => time(at), 'when'],
  ['', (message) => (canBeSentAgain(message) ? retryButton(message, refresh) : ''), 'acts'],
]

/** The outcome of a message, with the cause code, the next attempt and the words of the server. */
export function showMessage(message) {
  const { detail, meaning, reply, next_attempt_at: next, attempts, created_at: at } = message
  const { destination, gateway, channel, state } = message
  showOnce(aboutOf(message), [
    meaning && element('p', {}, meaning.replaceAll("'", '’')),
    facts([
      [say('to'), destination],
      [say('state'), say(`state_${state}`)],
      [say('when'), exactTime(at)],
      [say('channel'), say(`channel_${channel}`)],
      [say('gateway'), gateway],
      [say('attempts'), String(attempts)],
      [say('next_attempt'), next && exactTime(next)],
      [say('cause'), detail && element('code', {}, detail)],
      [say('reply'), reply],
    ]),
  ])
}

export function retryButton({ id }, refresh) {
  const made = button(say('send_again'), async () => {
    made.disabled = true
    try {
      await call('POST', `messages/${id}/retry`)
      announce(say('will_be_sent_again'))
      await refresh?.()
    } catch (error) {
      announce(error.message)
    }
  })
  return made
}

export function messagesScreen(search) {
  const any = ['', say('any')]
  const fields = [
    searchField('to', say('to'), {
      value: search.to ?? '',
      placeholder: say('search_people_hint'),
      labelled: true,
    }),
    field('state', say('state'), {
      options: [any, ...states.map((state) => [state, say(`state_${state}`)])],
      value: search.state,
    }),
    field('channel', say('channel'), {
      options: [any, ...['email', 'sms', 'application'].map((name) => [name, say(`channel_${name}`)])],
      value: search.channel,
    }),
    field('gateway', say('gateway'), {
      type: 'search',
      value: search.gateway ?? '',
      placeholder: say('any_feminine'),
      autocomplete: 'off',
    }),
  ]
  return [
    element('h1', {}, say('messages')),
    ...filteredList('messages', fields, messageColumns, { empty: say('no_messages') }),
  ]
}
