/** Lists in pages: a table, and a button for the next page while there is one. */
import { call, query } from './api.js'
import { button, element, say, table } from './elements.js'

/** `path`: a list of the interface; `search`: its query. */
export async function pagedTable(path, search, columns, caption) {
  const first = await call('GET', path + query(search))
  if (first.items.length === 0) return element('p', { class: 'soft' }, say('nothing_found'))
  const list = table(columns, first.items, caption)
  const more = button(say('more'), showMore)
  let cursor = first.next_cursor
  more.hidden = cursor === null

  async function showMore() {
    more.disabled = true
    try {
      const page = await call('GET', path + query({ ...search, cursor }))
      list.add(page.items)
      cursor = page.next_cursor
      more.hidden = cursor === null
    } finally {
      more.disabled = false
    }
  }
  return element('div', {}, [list, element('div', { class: 'row end' }, more)])
}

/** A form of filters: submitting it changes the address, and with it the screen. */
export function filters(name, children) {
  const made = element('form', { class: 'inline', role: 'search' }, [
    ...children,
    element('button', { type: 'submit', class: 'main' }, say('search')),
  ])
  made.addEventListener('submit', (event) => {
    event.preventDefault()
    const values = Object.fromEntries([...new FormData(made)].filter(([, value]) => value !== ''))
    location.hash = `#/${name}${query(values)}`
  })
  return made
}
