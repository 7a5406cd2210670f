/** What was sent, and what became of it; never what it said. */
import { call, may } from './api.js'
import { announce, button, element, facts, field, say, tag, time } from './elements.js'
import { filters, pagedTable } from './pages.js'

const states = ['waiting', 'sent', 'delivered', 'refused', 'expired']
const kinds = { delivered: 'good', sent: 'good', refused: 'wrong', expired: 'wrong' }

export const messageColumns = () => [
  [say('when'), ({ created_at: at }) => time(at)],
  [say('message'), ({ purpose }) => element('code', { class: 'short' }, purpose)],
  [say('channel'), ({ channel }) => say(`channel_${channel}`)],
  [say('to'), ({ destination }) => destination],
  [say('state'), ({ state }) => tag(say(`state_${state}`), kinds[state])],
  [say('gateway'), ({ gateway }) => gateway ?? ''],
  [say('details'), details],
  ['', (message) => (message.state === 'refused' && may('messages:write') ? retryButton(message) : '')],
]

/** What became of it; behind a click the cause code, the next attempt and the words of the server. */
function details({ detail, meaning, reply, next_attempt_at: next, attempts }) {
  return element('div', {}, [
    meaning,
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

function retryButton({ id }) {
  const made = button(
    say('send_again'),
    async () => {
      made.disabled = true
      try {
        await call('POST', `messages/${id}/retry`)
        announce(say('will_be_sent_again'))
      } catch (error) {
        announce(error.message)
      }
    },
    'small',
  )
  return made
}

export async function messagesScreen(search) {
  const any = ['', say('any')]
  return [
    element('h1', {}, say('messages')),
    filters('messages', [
      field('state', say('state'), {
        options: [any, ...states.map((state) => [state, say(`state_${state}`)])],
        value: search.state,
      }),
      field('channel', say('channel'), {
        options: [any, ['email', say('channel_email')], ['sms', say('channel_sms')]],
        value: search.channel,
      }),
      field('gateway', say('gateway'), { value: search.gateway ?? '' }),
    ]),
    element('div', { class: 'card' }, await pagedTable('messages', search, messageColumns())),
  ]
}
