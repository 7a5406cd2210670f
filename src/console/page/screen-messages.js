/** The messages that were sent, and their outcomes; never their content. */
import { call, may } from './api.js'
import { announce, button, element, facts, field, say, tag, time, words } from './elements.js'
import { filteredList } from './pages.js'

const states = ['waiting', 'sent', 'delivered', 'unknown', 'refused', 'expired']
const kinds = { delivered: 'good', sent: 'good', refused: 'wrong', expired: 'wrong' }
/** Those that may be sent again. */
const unsent = ['refused', 'unknown']

/** The purpose of a message: its own subject, where there is one. */
const aboutOf = ({ purpose }) =>
  (words[`purpose:${purpose}`] ?? purpose.replaceAll('_', ' ')).replaceAll("'", '’')

/** `refresh`: reads the list again after one was sent anew. */
export const messageColumns = (refresh) => [
  [say('when'), ({ created_at: at }) => time(at)],
  [say('message'), aboutOf],
  [say('channel'), ({ channel }) => element('span', { class: 'short' }, say(`channel_${channel}`))],
  [say('to'), ({ destination }) => element('span', { class: 'cut', title: destination }, destination)],
  [say('state'), ({ state }) => tag(say(`state_${state}`), kinds[state])],
  [say('gateway'), ({ gateway }) => gateway ?? ''],
  [say('details'), details],
  [
    '',
    (message) =>
      unsent.includes(message.state) && may('messages:write') ? retryButton(message, refresh) : '',
  ],
]

/** The outcome of a message; behind a click the cause code, the next attempt and the words of the server. */
function details({ detail, meaning, reply, next_attempt_at: next, attempts }) {
  return element('div', {}, [
    meaning?.replaceAll("'", '’'),
    element('details', {}, [
      element('summary', { class: 'soft' }, say('more_about_it')),
      facts([
        [say('attempts'), String(attempts)],
        [say('next_attempt'), time(next)],
        [say('cause'), detail && element('code', {}, detail)],
        [say('reply'), reply],
      ]),
    ]),
  ])
}

function retryButton({ id }, refresh) {
  const made = button(
    say('send_again'),
    async () => {
      made.disabled = true
      try {
        await call('POST', `messages/${id}/retry`)
        announce(say('will_be_sent_again'))
        await refresh?.()
      } catch (error) {
        announce(error.message)
      }
    },
    'small',
  )
  return made
}

export function messagesScreen(search) {
  const any = ['', say('any')]
  const fields = [
    field('to', say('to'), {
      type: 'search',
      value: search.to ?? '',
      placeholder: say('search_people_hint'),
      autocomplete: 'off',
    }),
    field('state', say('state'), {
      options: [any, ...states.map((state) => [state, say(`state_${state}`)])],
      value: search.state,
    }),
    field('channel', say('channel'), {
      options: [any, ...['email', 'sms', 'application'].map((name) => [name, say(`channel_${name}`)])],
      value: search.channel,
    }),
    field('gateway', say('gateway'), { value: search.gateway ?? '' }),
  ]
  return [
    element('h1', {}, say('messages')),
    ...filteredList('messages', fields, messageColumns, { empty: say('no_messages') }),
  ]
}
