/** The first screen: totals, and what happened in the last 48 hours. */
import { call, may, query } from './api.js'
import { badge, capital, card, element, notice, say, table, titleRow } from './elements.js'
import { plot } from './plot.js'
import { exactTime, locale, number, spanOf, time } from './times.js'

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

/** That none was delivered is known only where servers say so. */
const messageSeries = (hours) =>
  shownStates
    .map(([state, kind]) => ({
      label: say(`state_${state}`),
      kind,
      values: hours.map((hour) => messagesIn(hour, state)),
      href: `#/messages?state=${state}`,
    }))
    .filter(({ values }, i) => shownStates[i][0] !== 'delivered' || values.some((count) => count > 0))

const FIVE_MINUTES = 300

export async function overviewScreen() {
  const [statistics, report, webhooks] = await Promise.all([
    call('GET', 'statistics'),
    call('GET', 'sms/report?days=7&limit=200'),
    may('events:read') ? call('GET', 'webhooks') : { items: [] },
  ])
  const { accounts, hours } = statistics
  const line = (key, kind) => ({ label: say(key), kind, values: hours.map((hour) => hour[key]) })
  const needs = attentions(statistics)
  return [
    titleRow(say('overview'), [
      toScreen('#/applications', say('applications')),
      may('limits:write') && toScreen('#/prefixes', say('prefixes')),
    ]),
    element(
      'section',
      { 'aria-label': say('needs_attention') },
      needs.length > 0 ? needs : notice('good', say('nothing_needs_you')),
    ),
    element('div', { class: 'tiles' }, tilesOf(accounts, hours)),
    element('div', { class: 'columns even' }, [
      card(
        say('logins_and_refusals'),
        plot(hours, [line('logins', 'main'), line('refusals', 'bad')], say('logins_and_refusals')),
      ),
      card(say('messages_48h'), plot(hours, messageSeries(hours), say('messages_48h'))),
    ]),
    tableCard('gateways', gatewayTable(statistics)),
    ...(webhooks.items.length > 0 ? [tableCard('webhooks', webhookTable(webhooks.items))] : []),
    ...(report.items.length > 0 ? [tableCard('sms_funnel', funnelTable(report.items))] : []),
  ]
}

/** With large letters the table moves inside it. */
const tableCard = (title, content) => card(say(title), content, { class: 'card wide-table' })

/** A meaning that stands by itself. */
const sentence = (meaning) => capital(meaning).replaceAll("'", '’')

const toScreen = (href, label) => element('a', { class: 'button quiet', href }, label)

/** What somebody should look at now, the most pressing first. */
function attentions({ waiting, errors, limited, removals }) {
  const isLate = waiting.oldest_seconds !== null && waiting.oldest_seconds > FIVE_MINUTES
  return [
    isLate &&
      notice(
        'bad',
        say('messages_are_late', { count: number(waiting.count), span: spanOf(waiting.oldest_seconds) }),
        toScreen('#/messages?state=waiting', say('show')),
      ),
    ...errors.map(({ channel, meaning, at }) =>
      notice(
        'warn',
        [element('b', {}, sentence(meaning)), ' · ', time(at)],
        toScreen(`#/messages?state=refused&channel=${channel}`, say('show')),
      ),
    ),
    limited > 0 &&
      notice(
        'warn',
        say(limited === 1 ? 'person_is_refused' : 'people_are_refused', { count: number(limited) }),
        toScreen('#/accounts?state=limited', say('show')),
      ),
    ...removals.map(({ account, due_at: due }) =>
      notice(
        '',
        say('removal_waits', { time: exactTime(due) }),
        toScreen(`#/accounts/${account}`, say('show')),
      ),
    ),
  ].filter(Boolean)
}

const DAY_HOURS = 24

/** Numbers that lead to what they count. Of two days, today is compared with the day before. */
function tilesOf(accounts, hours) {
  const compared = (key) => {
    const [before, today] = [hours.slice(0, DAY_HOURS), hours.slice(DAY_HOURS)].map((day) => sumOf(day, key))
    return [today, say('day_before', { count: number(before) })]
  }
  const tile = (label, [value, beside], href) =>
    element('a', { class: 'tile', href }, [
      element('b', {}, number(value)),
      say(label),
      beside && element('span', { class: 'beside' }, beside),
    ])
  const { total, confirmed, locked } = accounts
  return [
    tile('accounts', [total], '#/accounts'),
    tile('unconfirmed_accounts', [total - confirmed], '#/accounts?state=unconfirmed'),
    tile('locked_accounts', [locked], '#/accounts?state=locked'),
    tile('new_accounts_24h', compared('accounts'), '#/events?type=account.registered'),
    tile('logins_24h', compared('logins'), '#/events?type=login.succeeded'),
    tile('refusals_24h', compared('refusals'), '#/events?type=login.failed'),
  ]
}

/** Of what no gateway of a name took. */
const NAMES = { sms: 'no_gateway', email: 'mail_server', application: 'channel_application' }

/** Each number leads to its messages. */
const countCell =
  (state) =>
  ([, { gateway, channel, ...counts }]) => {
    const count = counts[state] ?? 0
    const href = `#/messages${query({ state, channel, gateway })}`
    if (count > 0) return element('a', { href }, number(count))
    return element('span', { class: 'soft' }, state === 'delivered' ? '—' : number(0))
  }

function gatewayTable({ hours, errors }) {
  const totals = new Map()
  for (const { channel, gateway, state, count } of hours.flatMap(({ messages }) => messages)) {
    const name = gateway ?? say(NAMES[channel])
    const row = totals.get(name) ?? {}
    totals.set(name, { ...row, channel, gateway: gateway ?? undefined, [state]: (row[state] ?? 0) + count })
  }
  if (totals.size === 0) return element('p', { class: 'soft' }, say('nothing_sent'))
  const states = ['waiting', 'sent', 'delivered', 'unknown', 'refused', 'expired']
  return table(
    [
      [say('gateway'), ([name]) => name, 'first'],
      ...states.map((state) => [say(`state_${state}`), countCell(state), 'number']),
      [say('last_error'), lastErrorCell(errors), 'outcome'],
    ],
    [...totals],
  )
}

const lastErrorCell =
  (errors) =>
  ([, { channel, gateway }]) => {
    const last = errors.find((error) => error.channel === channel && (error.gateway ?? undefined) === gateway)
    return last ? element('span', { class: 'soft' }, [sentence(last.meaning), ' · ', time(last.at)]) : ''
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
      [say('last_accepted'), ({ last_accepted_at }) => time(last_accepted_at), 'named'],
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
        'number',
      ],
    ],
    lines,
  )
}

const share = (part) =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 }).format(part)

const nameOf = (country) =>
  country === '' ? say('no_country') : new Intl.DisplayNames([locale], { type: 'region' }).of(country)
