/** What happened at one account: its events and its messages, newest first and day by day. */
import { call, may, query } from './api.js'
import { breakable, button, deviceName, element, icon, rowButton, say } from './elements.js'
import { iconOf, isSomebody, mergeEvents, nameOfActor, sentenceOf, showEvent } from './screen-events.js'
import { aboutOf, canBeSentAgain, codeFateOf, retryButton, showMessage } from './screen-messages.js'
import { dayNameOf, exactTime, hourOf } from './times.js'

const AT_ONCE = 20

const SIGN_INS =
  /^(login|session|two_factor|recovery_code|passkey|trusted_device|password|administrator\.sign)/

/** Where it happened and who did it, as far as that is more than the person. */
function circumstancesOf(event) {
  const { type, actor, device, address } = event
  const isOthers = isSomebody(event)
  const isSaid = type === 'account.viewed' || (actor.type === 'account' && !isOthers)
  const by = isOthers ? say('by_somebody') : nameOfActor(actor)
  return [!isSaid && by, device && deviceName(device), address].filter(Boolean).join(' · ')
}

const means = { pwd: 'password', otp: 'code', hwk: 'passkey', swk: 'passkey', fed: 'provider' }
const list = new Intl.ListFormat(document.documentElement.lang, { type: 'conjunction' })

/** Says by whom somebody was looked at, and by what they signed in. */
function sayEvent(more, event) {
  const { type, actor, data } = event
  if (type === 'account.viewed') return say('looked_at', { name: nameOfActor(actor) })
  const by = [...new Set((data.amr ?? []).flatMap((method) => means[method] ?? []))]
  if (type === 'login.succeeded' && by.length > 0)
    return say('signed_in_by', { means: list.format(by.map((one) => say(`means_${one}`))) })
  return sentenceOf(more)(event)
}

/** The event of a registration comes with its confirmation, after the code that was sent for it. */
const timeOf = ({ type, created_at: at }, { created_at: registeredAt }) =>
  type === 'account.registered' && registeredAt < at ? registeredAt : at

const ofEvent = (account, more) => (event) => ({
  at: timeOf(event, account),
  picture: iconOf(event),
  isBad: event.outcome === 'failure',
  tab: SIGN_INS.test(event.type) ? 'sign_ins' : 'rest',
  sentence: sayEvent(more, event),
  below: circumstancesOf(event),
  times: [event.created_at],
  count: event.data.count ?? 1,
  show: (times) => showEvent(event, more, times),
})

const ofMessage = (refresh) => (message) => ({
  at: message.created_at,
  picture: message.channel === 'sms' ? 'phone' : 'mail',
  isBad: message.state === 'refused' || message.state === 'unknown',
  tab: 'messages',
  sentence: say(message.code ? 'sent_code' : 'told', { about: aboutOf(message) }),
  below: [
    say(`channel_${message.channel}`),
    message.destination,
    codeFateOf(message) ?? say(`fate_${message.state}`),
  ]
    .filter(Boolean)
    .join(' · '),
  show: () => showMessage(message),
  action: canBeSentAgain(message) && retryButton(message, refresh),
})

function rowOf({ at, picture, isBad, sentence, below, count = 1, times, show, action }) {
  const said = [below, count > 1 && say('times', { count })].filter(Boolean).join(' · ')
  const marks = [isBad && 'bad', action && 'with-button'].filter(Boolean)
  return element('li', { class: marks.join(' ') }, [
    icon(picture),
    element('div', {}, [
      rowButton(() => show(times), breakable(sentence)),
      element('span', {}, breakable(said)),
    ]),
    action || null,
    element('time', { datetime: at, title: exactTime(at) }, hourOf(at)),
  ])
}

const textOf = (sentence) => sentence.textContent ?? sentence

/** The same event several times in a row is one line. Messages stay apart: each has its own fate. */
function fold(items) {
  const lines = []
  for (const item of items) {
    const above = lines.at(-1)
    const isSame =
      item.times &&
      above?.times &&
      textOf(above.sentence) === textOf(item.sentence) &&
      above.below === item.below
    if (isSame)
      lines[lines.length - 1] = {
        ...above,
        count: above.count + item.count,
        times: [...above.times, ...item.times],
      }
    else lines.push(item)
  }
  return lines
}

/** A list of the interface that is read a page at a time. */
function pages(path, search, toItem, merge = (items) => items) {
  const list = { items: [], cursor: undefined, isWhole: false }
  list.read = async () => {
    if (list.isWhole) return
    const page = await call('GET', path + query({ ...search, limit: AT_ONCE, cursor: list.cursor }))
    list.items.push(...merge(page.items).map(toItem))
    list.oldest = page.items.at(-1)?.created_at ?? ''
    list.cursor = page.next_cursor ?? undefined
    list.isWhole = page.next_cursor === null
  }
  return list
}

/** `more`: what else the screen knows of an event. `refresh` shows the account anew. */
export async function streamOf(account, path, more, refresh) {
  const lists = [
    may('messages:read') && pages(`${path}/messages`, {}, ofMessage(refresh)),
    may('events:read') && pages(`${path}/events`, {}, ofEvent(account, more), mergeEvents),
  ].filter(Boolean)
  const body = element('div')
  const further = element('div', { class: 'more' })
  let tab = 'everything'

  function draw() {
    // What is older than the last of a page that has a next one may still come.
    const bound = lists.filter(({ isWhole }) => !isWhole).map(({ oldest }) => oldest)
    const from = bound.sort().at(-1) ?? ''
    const items = lists
      .flatMap((list) => list.items)
      .filter((item) => item.at >= from && (tab === 'everything' || item.tab === tab))
      // Of one moment, the lists stand as they came: what was sent above what it was sent for.
      .sort((one, other) => (one.at === other.at ? 0 : one.at < other.at ? 1 : -1))
    const byDay = new Map()
    for (const item of items) {
      const day = dayNameOf(item.at)
      byDay.set(day, [...(byDay.get(day) ?? []), item])
    }
    body.replaceChildren(
      ...[...byDay].flatMap(([day, ofDay]) => [
        element('h3', { class: 'day' }, day),
        element('ul', { class: 'events' }, fold(ofDay).map(rowOf)),
      ]),
    )
    if (items.length === 0) body.append(element('p', { class: 'empty' }, say('nothing_happened')))
    further.hidden = lists.every(({ isWhole }) => isWhole)
  }

  async function read() {
    await Promise.all(lists.map((list) => list.read()))
    draw()
  }
  further.append(button(say('more'), read))
  await read()
  const tabs = ['everything', 'sign_ins', 'messages'].map((name) =>
    element(
      'button',
      {
        type: 'button',
        'aria-pressed': String(name === tab),
        onclick: ({ currentTarget }) => {
          tab = name
          for (const one of tabs) one.setAttribute('aria-pressed', String(one === currentTarget))
          draw()
        },
      },
      say(`tab_${name}`),
    ),
  )
  return element('section', { class: 'card stream' }, [
    element('div', { class: 'head' }, [
      element('h2', {}, say('what_happened')),
      element('div', { class: 'tabs', role: 'group', 'aria-label': say('what_happened') }, tabs),
    ]),
    body,
    further,
  ])
}
