/** A plot of hours as stacked bars, with the same numbers as a table for readers who cannot see it. */
import { details, element, say } from './elements.js'
import { locale, number } from './times.js'

/** The plot is drawn as wide as it is shown, so that its letters have the size of the text. */
function widthShown() {
  const inside = Math.min(innerWidth, 1320) - (innerWidth > 700 ? 48 : 32)
  return Math.max(innerWidth > 700 ? (inside - 16) / 2 - 34 : inside - 34, 220)
}
const HEIGHT = 120
const LEFT = 36
const TOP = 10
const BOTTOM = 24

function svg(name, attributes = {}, children = []) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  made.append(...children)
  return made
}

/** The next number that is 1, 2, 4, 6 or 8 times a power of ten: its half, which stands beside the axis too, is whole. */
function roundUp(value) {
  if (value <= 4) return 4
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= value)
}

/** `series`: label, colour (a class of page.css), one value for each hour, and where its number leads. */
export function plot(hours, series, title) {
  const box = element('div', {}, [draw(hours, series, title), legend(series), numbers(hours, series)])
  // A phone is turned.
  const drawAgain = () => {
    if (box.isConnected) box.firstChild.replaceWith(draw(hours, series, title))
    else removeEventListener('resize', drawAgain)
  }
  addEventListener('resize', drawAgain)
  return box
}

function draw(hours, series, title) {
  const shown = widthShown()
  const totals = hours.map((_, hour) => series.reduce((sum, { values }) => sum + values[hour], 0))
  const top = roundUp(Math.max(...totals))
  const width = (shown - LEFT) / hours.length
  const height = HEIGHT - TOP - BOTTOM
  const y = (value) => TOP + height - (value / top) * height
  const clock = new Intl.DateTimeFormat(locale, { weekday: 'short', hour: '2-digit', minute: '2-digit' })
  const picture = svg('svg', {
    class: 'plot',
    viewBox: `0 0 ${shown} ${HEIGHT}`,
    role: 'img',
    'aria-label': title,
  })
  for (const value of [0, top / 2, top]) {
    picture.append(
      svg('line', { class: 'axis', x1: LEFT, x2: shown, y1: y(value), y2: y(value) }),
      svg('text', { x: LEFT - 8, y: y(value) + 4, 'text-anchor': 'end' }, [number(value)]),
    )
  }
  hours.forEach(({ at }, hour) => {
    let below = 0
    for (const { values, kind } of series) {
      const value = values[hour]
      if (value === 0) continue
      below += value
      const bar = svg('rect', {
        class: kind,
        x: LEFT + hour * width + 1,
        width: Math.max(width - 2, 1),
        y: y(below),
        height: (value / top) * height,
      })
      picture.append(bar)
    }
    if (hour % (shown > 400 ? 12 : 24) === 0)
      picture.append(svg('text', { x: LEFT + hour * width, y: HEIGHT - 6 }, [clock.format(new Date(at))]))
  })
  return picture
}

const linked = (href, text) => (href ? element('a', { href }, text) : text)

const legend = (series) =>
  element(
    'ul',
    { class: 'legend' },
    series.map(({ label, kind, values, href }) =>
      element('li', {}, [
        svg('svg', { class: 'swatch', viewBox: '0 0 12 12', 'aria-hidden': true }, [
          svg('rect', { class: kind, width: 12, height: 12, rx: 3 }),
        ]),
        linked(href, `${label}${say('colon')}${number(values.reduce((sum, value) => sum + value, 0))}`),
      ]),
    ),
  )

const numbers = (hours, series) => {
  const clock = new Intl.DateTimeFormat(locale, {
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const rows = hours.map(({ at }, hour) =>
    element('tr', {}, [
      element('th', { scope: 'row' }, clock.format(new Date(at))),
      ...series.map(({ values }) => element('td', { class: 'number' }, number(values[hour]))),
    ]),
  )
  return details(
    say('as_table'),
    element('table', {}, [
      element(
        'thead',
        {},
        element('tr', {}, [
          element('th', { scope: 'col' }, say('hour')),
          ...series.map(({ label }) => element('th', { scope: 'col', class: 'number' }, label)),
        ]),
      ),
      element('tbody', {}, rows),
    ]),
    { class: 'numbers' },
  )
}
