/** Elements of the page: made here and nowhere by text, so that nothing that a person typed becomes markup. */
import { browserName } from './browser-name.js'
import { lineParts } from './line-breaks.js'

export const words = JSON.parse(document.getElementById('words').textContent)
const { icons } = JSON.parse(document.getElementById('look').textContent)

/** The sentence of this key, with `{name}` replaced. */
export const say = (key, values = {}) =>
  (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')

/** As a sentence begins. */
export const capital = (text) => text.slice(0, 1).toLocaleUpperCase() + text.slice(1)

/** `attributes`: `on…` are listeners, true is an attribute without value, false, null and undefined are left out. */
export function element(name, attributes = {}, children = []) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
    else made.setAttribute(key, value === true ? '' : value)
  }
  made.append(
    ...[children].flat().filter((child) => child !== null && child !== undefined && child !== false),
  )
  return made
}

/** A text in which a long address breaks where it may, rather than anywhere. An element stays as it is. */
export const breakable = (text, longest) =>
  typeof text === 'string'
    ? lineParts(text, longest).flatMap((part, i) => (i === 0 ? part : [element('wbr'), part]))
    : text

/** The same for a title, where an address stays whole while a line holds it. */
export const titleOf = (text) =>
  typeof text === 'string'
    ? text.split(/(\S+@\S+)/).map((part, i) => (i % 2 === 1 ? element('bdi', {}, breakable(part)) : part))
    : text

/** The name of a device, in the reader's language where it is one of ours. */
export const deviceName = (name) => browserName(name, words.browser_on) ?? name

/** One of the icons of the pages, which come with the page. It has no words: what it stands beside has. */
export function icon(name) {
  const holder = document.createElement('template')
  holder.innerHTML = icons[name]
  return holder.content.firstChild
}

/**
 * One button of a screen has the fill: 'main'. 'danger' is red, 'link' has no shape, 'removes' stands in rows. Red with the fill
 * is in dialogs alone, for what nobody can undo.
 */
const kinds = {
  '': 'button quiet',
  main: 'button',
  danger: 'button quiet danger',
  link: 'link',
  removes: 'link danger',
}

export const button = (label, onclick, kind = '', picture) =>
  element(
    'button',
    { type: 'button', class: kinds[kind] ?? kind, onclick },
    [picture && icon(picture), label].flat(),
  )

/** A word on a ground, for what is unusual. `kind`: good, warn or bad. */
export const badge = (label, kind = '') => element('span', { class: `badge ${kind}`.trim() }, label)

const first = (word = '') => [...word.replace(/^\+/, '')][0]?.toLocaleUpperCase() ?? ''

/** The first letter, in a circle. */
export const avatar = (name, more = '') =>
  element('span', { class: `avatar ${more}`.trim(), 'aria-hidden': 'true' }, first(name.trim()))

/** Grey bars where a list will be. */
export const skeleton = (lines = 5) =>
  element(
    'div',
    { class: 'skeleton', role: 'status', 'aria-label': say('loading') },
    Array.from({ length: lines }, () => element('span')),
  )

/** `rows`: pairs of a word and what stands beside it; what is empty is left out. */
export const facts = (rows) =>
  element(
    'dl',
    {},
    rows
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .flatMap(([label, value]) => [element('dt', {}, label), element('dd', {}, value)]),
  )

export const card = (title, children, attributes = {}) =>
  element('section', { class: 'card', ...attributes }, [
    title && element('h2', {}, title),
    ...[children].flat(),
  ])

/** The title of a screen with what can be done there. */
export const titleRow = (title, actions = []) =>
  element('div', { class: 'title' }, [
    typeof title === 'string' ? element('h1', {}, title) : title,
    element('div', { class: 'acts' }, actions),
  ])

/** The way to the screen from which this one is reached. */
export const wayUp = (href, label) =>
  element('p', { class: 'up' }, element('a', { href }, [icon('back'), label]))

/** What is folded behind its words. */
export const details = (label, children, { class: kind = '', ...attributes } = {}) =>
  element('details', { class: `fold ${kind}`.trim(), ...attributes }, [
    element('summary', {}, [icon('chevron'), label]),
    ...[children].flat(),
  ])

const noticeIcons = { bad: 'alert', warn: 'alert', good: 'check', '': 'info' }

/** An icon, a sentence, and at most one action. `kind`: bad, warn or good. */
export const notice = (kind, sentence, action) =>
  element('div', { class: `notice ${kind}`.trim() }, [
    icon(noticeIcons[kind]),
    element('div', {}, sentence),
    action,
  ])

/** What would be here, and the button that makes the first. */
export const emptyState = (sentence, action) =>
  element('div', { class: 'empty' }, [element('p', {}, sentence), action])

const hasClass = (content, name) => content instanceof Element && content.classList.contains(name)

/** One line of two. An element of the class `wraps` takes more where it needs them. */
const lineOf = (content) => (hasClass(content, 'wraps') ? content : element('span', {}, content))

/** Two lines: what it is, and what else is known. */
export const twoLines = (above, below) =>
  element('span', { class: below ? 'text two' : 'text' }, [lineOf(above), below && lineOf(below)])

/** The link of a row, which is the whole row. */
export const rowLink = (href, children, title) => element('a', { class: 'whole', href, title }, children)
export const rowButton = (onclick, children, kind = '') =>
  element('button', { type: 'button', class: `link whole ${kind}`.trim(), onclick }, children)

/** What follows below is of one day. */
const dayRow = (day, columns) =>
  element('tr', { class: 'of-day' }, element('th', { colspan: columns.length, scope: 'rowgroup' }, day))

/** What the first cell of a row may hold. On a phone the place of the other cells follows from it. */
const HELD = ['avatar', 'icon', 'two']

/**
 * `columns`: a heading, a function of a row, and where it stands: `first` is what the row is about, `when` the time beside
 * it on a phone, `less` leaves narrow screens, `badges` comes back on a phone, `number` is aligned, `named` has its heading on a phone, `acts` has buttons
 * and no heading that is seen; on a phone they stand where no time does. `dayOf`: the day of a row, which stands above the rows of each.
 */
export function table(columns, rows, { dayOf } = {}) {
  let body
  let above
  const heading = (label, kind) =>
    kind === 'acts' ? element('span', { class: 'hidden' }, label || say('actions')) : label
  const kinds = columns.map(([, , kind = '']) => kind)
  const corner = ['when', 'acts'].find((kind) => kinds.includes(kind))
  const marks = [
    'stacks',
    corner && 'with-corner',
    dayOf && 'by-day',
    kinds.some((kind) => kind.includes('named')) && 'with-names',
  ]
  const made = element('table', { class: marks.filter(Boolean).join(' ') }, [
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        columns.map(([label, , kind = '']) =>
          element('th', { scope: 'col', class: kind === 'acts' ? 'buttons' : kind }, heading(label, kind)),
        ),
      ),
    ),
  ])
  const cellOf = (row, [label, cell, kind = '']) => {
    const content = cell(row)
    const marks = [kind, kind === corner && 'corner', hasClass(content, 'usual') && 'usual']
    return element('td', { 'data-label': label, class: marks.filter(Boolean).join(' ') }, content)
  }
  function rowOf(row) {
    const cells = columns.map((column) => cellOf(row, column))
    const held = HELD.filter((name) => cells[0].querySelector(`.${name}`)).map((name) => `with-${name}`)
    return element('tr', { class: held.join(' ') }, cells)
  }
  made.add = (more) => {
    for (const row of more) {
      const day = dayOf?.(row)
      if (!body || day !== above) {
        body = element('tbody', {}, day === undefined ? [] : dayRow(day, columns))
        above = day
        made.append(body)
      }
      body.append(rowOf(row))
    }
  }
  made.add(rows)
  return made
}
