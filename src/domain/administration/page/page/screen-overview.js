/** The first screen: totals, and what happened in the last 48 hours. */
import { call } from './api.js'
import { card, element, number, say, table } from './elements.js'
import { plot } from './plot.js'

const sumOf = (hours, key) => hours.reduce((sum, hour) => sum + hour[key], 0)

const messagesIn = (hour, state) =>
  hour.messages.filter((one) => one.state === state).reduce((sum, { count }) => sum + count, 0)

/** States of messages in the plot, and their colours. */
const shownStates = [
  ['delivered', 'good'],
  ['sent', 'main'],
  ['waiting', 'soft'],
  ['refused', 'wrong'],
]

export async function overviewScreen() {
  const { accounts, hours } = await call('GET', 'statistics')
  const tile = (label, value) =>
    element('div', { class: 'tile' }, [element('b', {}, number(value)), say(label)])
  const line = (key, kind) => ({ label: say(key), kind, values: hours.map((hour) => hour[key]) })
  return [
    element('h1', {}, say('overview')),
    element('div', { class: 'tiles' }, [
      tile('accounts', accounts.total),
      tile('confirmed_accounts', accounts.confirmed),
      tile('locked_accounts', accounts.locked),
      tile('new_accounts_48h', sumOf(hours, 'accounts')),
      tile('confirmations_48h', sumOf(hours, 'confirmations')),
      tile('logins_48h', sumOf(hours, 'logins')),
    ]),
    card(
      say('logins_and_refusals'),
      plot(hours, [line('logins', 'main'), line('refusals', 'wrong')], say('logins_and_refusals')),
    ),
    card(
      say('messages'),
      plot(
        hours,
        shownStates.map(([state, kind]) => ({
          label: say(`state_${state}`),
          kind,
          values: hours.map((hour) => messagesIn(hour, state)),
        })),
        say('messages'),
      ),
    ),
    card(say('gateways'), gatewayTable(hours)),
  ]
}

function gatewayTable(hours) {
  const totals = new Map()
  for (const { gateway, state, count } of hours.flatMap(({ messages }) => messages)) {
    const name = gateway ?? say('mail_server')
    const row = totals.get(name) ?? {}
    totals.set(name, { ...row, [state]: (row[state] ?? 0) + count })
  }
  if (totals.size === 0) return element('p', { class: 'soft' }, say('nothing_sent'))
  const states = ['waiting', 'sent', 'delivered', 'refused', 'expired']
  return table(
    [
      [say('gateway'), ([name]) => name],
      ...states.map((state) => [say(`state_${state}`), ([, counts]) => number(counts[state] ?? 0)]),
    ],
    [...totals],
  )
}
