/** The first screen: totals, and what happened in the last 48 hours. */
import { call } from './api.js'
import { badge, card, element, say, table } from './elements.js'
import { plot } from './plot.js'
import { locale, number, time } from './times.js'

const sumOf = (hours, key) => hours.reduce((sum, hour) => sum + hour[key], 0)

const messagesIn = (hour, state) =>
  hour.messages.filter((one) => one.state === state).reduce((sum, { count }) => sum + count, 0)

/** States of messages in the plot, and their colours. */
const shownStates = [
  ['delivered', 'good'],
  ['sent', 'main'],
  ['waiting', 'soft'],
  ['refused', 'bad'],
  ['expired', 'late'],
]

export async function overviewScreen() {
  const [{ accounts, hours }, report, webhooks] = await Promise.all([
    call('GET', 'statistics'),
    call('GET', 'sms/report?days=7&limit=200'),
    call('GET', 'webhooks'),
  ])
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
      tile('logins_48h', sumOf(hours, 'logins')),
    ]),
    card(
      say('logins_and_refusals'),
      plot(hours, [line('logins', 'main'), line('refusals', 'bad')], say('logins_and_refusals')),
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
    ...(webhooks.items.length > 0 ? [card(say('webhooks'), webhookTable(webhooks.items))] : []),
    ...(report.items.length > 0 ? [card(say('sms_funnel'), funnelTable(report.items))] : []),
    element('p', {}, element('a', { href: '#/applications' }, say('applications'))),
  ]
}

/** Of what no gateway of a name took. */
const NAMES = { sms: 'no_gateway', email: 'mail_server', application: 'channel_application' }

function gatewayTable(hours) {
  const totals = new Map()
  for (const { channel, gateway, state, count } of hours.flatMap(({ messages }) => messages)) {
    const name = gateway ?? say(NAMES[channel])
    const row = totals.get(name) ?? {}
    totals.set(name, { ...row, [state]: (row[state] ?? 0) + count })
  }
  if (totals.size === 0) return element('p', { class: 'soft' }, say('nothing_sent'))
  const states = ['waiting', 'sent', 'delivered', 'unknown', 'refused', 'expired']
  return table(
    [
      [say('gateway'), ([name]) => name, 'first'],
      ...states.map((state) => [say(`state_${state}`), ([, counts]) => number(counts[state] ?? 0), 'number']),
    ],
    [...totals],
  )
}

const webhookTable = (items) =>
  table(
    [
      [say('webhook'), ({ name }) => name, 'first'],
      [say('host'), ({ host }) => host, 'soft less'],
      [say('lag_seconds'), ({ lag_seconds }) => number(lag_seconds), 'number'],
      [say('set_aside'), ({ set_aside }) => number(set_aside), 'number'],
      [
        say('given_up'),
        ({ given_up }) => (given_up > 0 ? badge(number(given_up), 'bad') : number(0)),
        'number',
      ],
      [say('last_accepted'), ({ last_accepted_at }) => time(last_accepted_at)],
      [
        say('webhook_state'),
        ({ away_since }) => (away_since === null ? say('webhook_here') : badge(say('webhook_away'), 'bad')),
      ],
    ],
    items,
  )

/**
 * The SMS that were counted: a row for each country, and below it one for each gateway that was asked. Countries in
 * which most was given up stand first.
 */
function funnelTable(items) {
  const byCountry = new Map()
  for (const item of items) byCountry.set(item.country, [...(byCountry.get(item.country) ?? []), item])
  const countries = [...byCountry].map(([country, rows]) => ({
    country,
    rows: rows.filter(({ gateway }) => gateway !== ''),
    asked: sumOf(rows, 'asked'),
    lost: sumOf(rows, 'given_up'),
    sent: sumOf(rows, 'accepted'),
    verified: sumOf(rows, 'verified'),
  }))
  countries.sort((one, other) => other.lost - one.lost || other.asked - one.asked)
  const lines = countries.flatMap(({ rows, ...country }) => [
    country,
    ...rows.map(({ gateway, handed_over: asked, accepted: sent, verified }) => ({
      ...{ country: country.country, gateway, asked, lost: asked - sent, sent, verified },
    })),
  ])
  return table(
    [
      [say('country'), ({ country, gateway }) => (gateway === undefined ? nameOf(country) : ''), 'first'],
      [say('gateway'), ({ gateway }) => gateway ?? say('all'), 'soft'],
      [say('asked'), ({ asked }) => number(asked), 'number'],
      [say('given_up'), ({ lost }) => (lost > 0 ? badge(number(lost), 'bad') : number(0)), 'number'],
      [say('state_sent'), ({ sent }) => number(sent), 'number'],
      [
        say('verified_codes'),
        ({ verified, sent }) => (sent > 0 ? `${number(verified)} (${share(verified / sent)})` : ''),
      ],
    ],
    lines,
  )
}

const share = (part) =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 }).format(part)

const nameOf = (country) =>
  country === '' ? say('no_country') : new Intl.DisplayNames([locale], { type: 'region' }).of(country)
