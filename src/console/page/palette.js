/** One field for everything, opened by Ctrl-K: the screens by their names, and accounts by any part of a contact. */
import { call, may, query } from './api.js'
import { avatar, element, icon, say, twoLines } from './elements.js'
import { asTyped } from './forms.js'
import { nameOf } from './screen-accounts.js'

const LEAST_CHARACTERS = 3
const PAUSE_MS = 150
const MOST_ACCOUNTS = 6

/** `screens`: pairs of an address and the words for it. */
export function openPalette(screens) {
  if (document.querySelector('dialog')) return
  const input = element('input', {
    type: 'search',
    role: 'combobox',
    'aria-expanded': 'true',
    'aria-controls': 'palette-list',
    'aria-label': say('palette'),
    placeholder: say('palette_hint'),
    autocomplete: 'off',
    ...asTyped,
  })
  const list = element('ul', { id: 'palette-list', role: 'listbox', 'aria-label': say('palette') })
  const nothing = element('p', { class: 'soft', role: 'status', hidden: true }, say('nothing_found'))
  const box = element('dialog', { class: 'palette', 'aria-label': say('palette') }, [input, list, nothing])
  let chosen = 0
  let turn = 0

  const entries = () => [...list.children]

  function choose(index) {
    const all = entries()
    chosen = all.length === 0 ? 0 : (index + all.length) % all.length
    all.forEach((entry, place) => {
      entry.setAttribute('aria-selected', place === chosen)
    })
    if (all[chosen]) input.setAttribute('aria-activedescendant', all[chosen].id)
    else input.removeAttribute('aria-activedescendant')
    all[chosen]?.scrollIntoView({ block: 'nearest' })
  }

  function show(found) {
    list.replaceChildren(
      ...found.map(([address, label, beside = ''], index) =>
        element('li', { id: `palette-${index}`, role: 'option', 'data-address': address }, [
          address.startsWith('accounts/') ? avatar(label) : icon('chevron'),
          twoLines(label, beside),
        ]),
      ),
    )
    choose(0)
  }

  async function accountsLike(typed) {
    if (!may('accounts:read')) return []
    const { items } = await call('GET', `accounts${query({ query: typed, limit: MOST_ACCOUNTS })}`)
    return items.map((account) => {
      const { email, phone, profile, username } = account
      const beside = [profile.name, username, email && phone].filter(Boolean).join(' · ')
      return [`accounts/${account.uuid}`, nameOf(account), beside]
    })
  }

  async function search() {
    turn += 1
    const mine = turn
    const typed = input.value.trim()
    const named = screens.filter(([, label]) => label.toLowerCase().includes(typed.toLowerCase()))
    show(named)
    nothing.hidden = true
    if (typed.length < LEAST_CHARACTERS) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    if (mine !== turn) return
    const accounts = await accountsLike(typed).catch(() => [])
    if (mine !== turn) return
    show([...named, ...accounts])
    nothing.hidden = list.children.length > 0
  }

  function open(entry) {
    if (!entry) return
    location.hash = `#/${entry.dataset.address}`
    box.close()
  }

  const byKey = {
    ArrowDown: () => choose(chosen + 1),
    ArrowUp: () => choose(chosen - 1),
    Enter: () => open(entries()[chosen]),
    // Browsers would empty the field first.
    Escape: () => box.close(),
  }
  input.addEventListener('input', search)
  input.addEventListener('keydown', (event) => {
    if (!byKey[event.key]) return
    event.preventDefault()
    byKey[event.key]()
  })
  list.addEventListener('click', ({ target }) => open(target.closest('li')))
  box.addEventListener('close', () => box.remove())
  document.body.append(box)
  search()
  box.showModal()
}
