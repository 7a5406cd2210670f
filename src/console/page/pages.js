/** Lists in pages: a table, and a button for the next page while there is one. */
import { call, query } from './api.js'
import { button, details, element, emptyState, say, skeleton, table } from './elements.js'
import { alertOf } from './forms.js'

/**
 * `path`: a list of the interface; `search`: its query. `merge` puts rows of one page together; `empty` says what to do
 * where there is none; `read` gets the first page; `dayOf` is that of the table.
 */
export async function pagedTable(path, search, columns, { merge = (rows) => rows, empty, read, dayOf } = {}) {
  const first = await call('GET', path + query(search))
  read?.(first)
  if (first.items.length === 0)
    return empty instanceof Element ? empty : emptyState(empty ?? say('nothing_found'))
  const list = table(columns, merge(first.items), { dayOf })
  const next = button(say('more'), showMore)
  const more = element('div', { class: 'more' }, next)
  let cursor = first.next_cursor
  more.hidden = cursor === null

  async function showMore() {
    next.disabled = true
    try {
      const page = await call('GET', path + query({ ...search, cursor }))
      list.add(merge(page.items))
      cursor = page.next_cursor
      more.hidden = cursor === null
    } finally {
      next.disabled = false
    }
  }
  return element('div', {}, [list, more])
}

/** The width of the page with the search, and of each field beside it. */
const [WITH_SEARCH, WITH_FIELD] = [368, 132]

/** Where they do not fit in one row, the fields after the first are folded while none of them asks for anything. */
function withFolded([first, ...others]) {
  if (others.length < 2 || innerWidth >= WITH_SEARCH + WITH_FIELD * others.length) return [first, ...others]
  const asks = others.some((one) => one.querySelector('input, select').value !== '')
  return [
    first,
    details(say('more_filters'), element('div', { class: 'filters' }, others), {
      class: 'others',
      open: asks,
    }),
  ]
}

/** Fewer characters find too much to be of use. */
const LEAST_CHARACTERS = 3
const PAUSE_MS = 200

/**
 * A form of filters with its list, which follows while one types; the address keeps what was asked for. An error stays
 * in the list's place, beside the form. `columns` gets the function that reads the list again; `ask` makes of the form's
 * values what is asked for. `count`: where the number of what is found stands, and what tells it of the first page and the
 * form's values.
 */
export function filteredList(
  name,
  fields,
  columns,
  { ask = (values) => values, count = {}, ...options } = {},
) {
  const list = element('div', { class: 'card list' }, skeleton())
  const made = element('form', { class: 'filters', role: 'search' }, withFolded(fields))
  let turn = 0
  let timer

  async function load() {
    clearTimeout(timer)
    turn += 1
    const mine = turn
    const address = location.hash
    const values = valuesIn(made)
    const isShort = [...made.querySelectorAll('input[type=search]')].some(
      ({ value }) => value.trim() !== '' && value.trim().length < LEAST_CHARACTERS,
    )
    count.place?.replaceChildren()
    if (isShort) return list.replaceChildren(emptyState(say('type_more')))
    list.setAttribute('aria-busy', 'true')
    let shown
    let first
    const read = (page) => {
      first = page
    }
    try {
      shown = await pagedTable(name, ask(values), columns(load), { ...options, read })
    } catch (error) {
      if (error.status === 401) return
      shown = alertOf(error.message)
    }
    // A late answer: the address may lead elsewhere already, though this list is still what is seen.
    if (mine !== turn || !list.isConnected || location.hash !== address) return
    history.replaceState(null, '', `#/${name}${query(values)}`)
    list.removeAttribute('aria-busy')
    list.replaceChildren(shown)
    const said = first && (await count.of?.(first, values).catch(() => ''))
    if (said && mine === turn) count.place.replaceChildren(said)
  }
  made.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(load, PAUSE_MS)
  })
  made.addEventListener('submit', (event) => {
    event.preventDefault()
    load()
  })
  queueMicrotask(() => setTimeout(load))
  return [made, list]
}

const valuesIn = (form) =>
  Object.fromEntries(
    [...new FormData(form)].map(([key, value]) => [key, value.trim()]).filter(([, value]) => value),
  )
