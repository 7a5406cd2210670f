/** The prefixes of telephone numbers that are closed to SMS. */
import { call } from './api.js'
import { announce, dialog } from './dialogs.js'
import { badge, button, element, emptyState, say, titleRow, twoLines, wayUp } from './elements.js'
import { field } from './forms.js'
import { pagedTable } from './pages.js'
import { nameOfActor } from './screen-events.js'
import { dayOf, spanOf, time } from './times.js'

export async function prefixesScreen(_search, refresh) {
  const columns = [
    [say('prefix'), ({ prefix, reason }) => twoLines(element('bdi', {}, prefix), reason), 'first'],
    [say('by'), byCell, 'soft named'],
    [say('since'), ({ created_at: at }) => time(at), 'soft less'],
    [say('closed_until'), ({ closed_until: at }) => time(at), 'soft named'],
    ['', ({ prefix }) => button(say('open_again'), () => open(prefix, refresh)), 'acts'],
  ]
  const make = (kind) => button(say('close_prefix'), () => close(refresh), kind, 'plus')
  const empty = emptyState(say('no_prefixes'), make(''))
  return [
    wayUp('#/', say('overview')),
    titleRow(say('prefixes'), make('main')),
    element('p', { class: 'lead' }, say('prefixes_lead')),
    element('div', { class: 'card list' }, await pagedTable('sms/prefixes', {}, columns, { empty })),
  ]
}

const byCell = ({ closed_by: by, created_by: creator }) =>
  by === 'guard' ? badge(say('actor_system'), 'warn') : nameOfActor(creator)

const DAYS = ['1', '7', '30']
const DAY_SECONDS = 86_400

/** The day on which it ends stands beside the number of days. */
export const daysField = (name, label, days, value) =>
  field(name, label, {
    options: days.map((count) => [
      count,
      `${spanOf(Number(count) * DAY_SECONDS)} (${dayOf(Date.now() + Number(count) * DAY_SECONDS * 1000)})`,
    ]),
    value,
  })

async function close(refresh) {
  const closed = await dialog(
    say('close_prefix'),
    [
      element('p', {}, say('close_prefix_why')),
      field('prefix', say('prefix'), {
        type: 'tel',
        autocomplete: 'off',
        hint: say('prefix_hint'),
        required: true,
      }),
      field('reason', say('reason'), { maxlength: 500, required: true }),
      daysField('days', say('ends'), DAYS, '7'),
    ],
    {
      label: say('close_it'),
      submit: ({ prefix = '', reason = '', days }) =>
        call('POST', 'sms/prefixes', { prefix, reason, expires_in: `${days}d` }),
    },
  )
  if (!closed) return
  announce(say('prefix_closed', { prefix: closed.prefix }))
  await refresh()
}

async function open(prefix, refresh) {
  try {
    await call('DELETE', `sms/prefixes/${encodeURIComponent(prefix)}`)
    announce(say('prefix_opened', { prefix }))
    await refresh()
  } catch (error) {
    announce(error.message)
  }
}
