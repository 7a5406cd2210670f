/** Times and numbers as the reader writes them. */
import { element, say } from './elements.js'

const { lang } = document.documentElement
/** A reader's own English or Spanish, where the page speaks it: their clock has 24 hours or 12. */
export const locale = navigator.languages?.find((tag) => tag.split('-')[0] === lang) ?? lang

const times = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' })
const days = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const daysOfYears = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const spans = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const WEEK_MS = 7 * 86_400_000

const shortDay = (date) => (date.getFullYear() === new Date().getFullYear() ? days : daysOfYears).format(date)

/** "3 hours ago", and after a week the day. */
function near(date) {
  const ms = date.getTime() - Date.now()
  if (Math.abs(ms) > WEEK_MS) return shortDay(date)
  if (Math.abs(ms) < 60_000) return say('just_now')
  const [unit, size] = units.find(([, one]) => Math.abs(ms) >= one) ?? ['minute', 60_000]
  // What was made for seven days ends in seven, not in six and some hours.
  return spans.format(ms > 0 ? Math.round(ms / size) : Math.trunc(ms / size), unit)
}

/** A text in place of a time, with the exact time in the reader's time zone on hover. */
const timeAs = (iso, text) => element('time', { datetime: iso, title: exactTime(iso) }, text)

/** Writes a time as people say it. */
export const time = (iso) => (iso === null || iso === undefined ? '' : timeAs(iso, near(new Date(iso))))
/** Writes a time by the clock, below the name of its day. */
export const clockTime = (iso) => timeAs(iso, hourOf(iso))

export const exactTime = (iso) => times.format(new Date(iso))
export const dayOf = (iso) => daysOfYears.format(new Date(iso))
/** "Today", "Yesterday", or the day. */
export function dayNameOf(iso) {
  const date = new Date(iso)
  const yesterday = new Date()
  yesterday.setDate(yesterday.getDate() - 1)
  if (date.toDateString() === new Date().toDateString()) return say('today')
  return date.toDateString() === yesterday.toDateString() ? say('yesterday') : dayOf(iso)
}
/** "11:42" */
export const hourOf = (iso) => clock.format(new Date(iso))
/** "5 Nov, 11:42", which tells two things of one day apart. */
export const dayAndHourOf = (iso) => `${shortDay(new Date(iso))}, ${hourOf(iso)}`
export const dayAndHour = (iso) => timeAs(iso, dayAndHourOf(iso))
/** "11:42", and of another day "5 Nov, 11:42". */
export const momentOf = (iso) =>
  new Date(iso).toDateString() === new Date().toDateString() ? hourOf(iso) : dayAndHourOf(iso)

/** "8 minutes", of seconds. */
export function spanOf(seconds) {
  const [unit, size] = units.find(([, one]) => seconds * 1000 >= one) ?? ['minute', 60_000]
  const count = Math.max(1, Math.floor((seconds * 1000) / size))
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

export const number = (value) => new Intl.NumberFormat(locale).format(value)
