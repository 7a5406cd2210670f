/** The page of administration: which screen is shown, and the bar on top. */
import { isOwner, may, readSession, send, session, whenSignedOut } from './api.js'
import { brand, showBar, signInFoot } from './bar.js'
import { forget } from './dialogs.js'
import { element, say, skeleton } from './elements.js'
import { alertOf } from './forms.js'
import { openPalette } from './palette.js'
import { accountScreen } from './screen-account.js'
import { accountsScreen } from './screen-accounts.js'
import { administratorsScreen } from './screen-administrators.js'
import { applicationsScreen } from './screen-applications.js'
import { eventsScreen } from './screen-events.js'
import { invitationsScreen } from './screen-invitations.js'
import { meScreen } from './screen-me.js'
import { messagesScreen } from './screen-messages.js'
import { overviewScreen } from './screen-overview.js'
import { prefixesScreen } from './screen-prefixes.js'
import { signInScreen } from './screen-sign-in.js'
import { tokensScreen } from './screen-tokens.js'

/** The first part of the address behind `#/` chooses the screen. `isOpen`: whether the role reaches it. */
const screens = {
  '': { title: 'overview', show: overviewScreen, isOpen: () => may('accounts:read') },
  accounts: { title: 'accounts', show: accountsScreen, isOpen: () => may('accounts:read') },
  messages: { title: 'messages', show: messagesScreen, isOpen: () => may('messages:read') },
  events: { title: 'events', show: eventsScreen, isOpen: () => may('events:read') },
  applications: { title: 'applications', show: applicationsScreen, isOpen: () => may('accounts:read') },
  invitations: { title: 'invitations', show: invitationsScreen, isOpen: () => may('invitations:read') },
  tokens: { title: 'tokens', show: tokensScreen, isOpen: () => may('tokens:write') },
  administrators: { title: 'administrators', show: administratorsScreen, isOpen: isOwner },
  prefixes: { title: 'prefixes', show: prefixesScreen, isOpen: () => may('limits:write') },
  me: { title: 'me', show: meScreen, isOpen: () => true },
}

/** Reached from the overview and by the palette: the bar shows what is used daily. */
const OF_OVERVIEW = new Set(['applications', 'prefixes'])
/** So is what the name leads to. */
const isAside = (address) => address === 'me' || OF_OVERVIEW.has(address)

/** Pairs of the address and the name of each screen that the role reaches. */
const openScreens = () =>
  Object.entries(screens)
    .filter(([, { isOpen }]) => isOpen())
    .map(([address, { title }]) => [address, say(title)])

const bar = document.getElementById('header')
const content = document.getElementById('content')
document.getElementById('skip').textContent = say('skip')

function addressOf() {
  const [path, search = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [name = '', ...rest] = path.split('/')
  return { name, rest, search: Object.fromEntries(new URLSearchParams(search)) }
}

const find = () => openPalette(openScreens())

/** A screen that is there sooner shows no grey bars. */
const SKELETON_MS = 150

/** A click that comes while another screen is loading wins over it. */
let shown = 0

/** `again`: the same screen after an action. What is seen stays until the new is there, and so do place and focus. */
async function show({ again = false } = {}) {
  shown += 1
  const turn = shown
  if (session === null) return showSignIn()
  const { name, rest, search } = addressOf()
  showBar(bar, {
    current: OF_OVERVIEW.has(name) ? '' : name,
    screens: openScreens().filter(([address]) => !isAside(address)),
    find,
    signOut,
  })
  if (screens[name] === undefined || !screens[name].isOpen()) return showNothing()
  const screen = screens[name]
  document.title = `${say(screen.title)} · ${say('service')}`
  let parts
  const loading = setTimeout(() => {
    if (turn !== shown) return
    if (again) content.setAttribute('aria-busy', 'true')
    else content.replaceChildren(element('h1', {}, say(screen.title)), skeleton())
  }, SKELETON_MS)
  const refresh = () => show({ again: true })
  try {
    const [uuid] = rest
    parts = await (name === 'accounts' && uuid ? accountScreen(uuid, refresh) : screen.show(search, refresh))
  } catch (error) {
    clearTimeout(loading)
    if (error.status === 401) return
    parts = [element('h1', {}, say(screen.title)), alertOf(error.message)]
  }
  clearTimeout(loading)
  if (turn !== shown) return
  content.removeAttribute('aria-busy')
  content.className = ''
  const restore = again ? placeOf(document.activeElement) : focusHeading
  content.replaceChildren(...parts)
  document.title = `${content.querySelector('h1')?.textContent ?? say(screen.title)} · ${say('service')}`
  restore()
}

/** Returns what leads back to where one was: to the same button, or to the heading where it is gone. */
function placeOf(focused) {
  const top = scrollY
  const sameAs = (one) => one.textContent === focused.textContent && one.tagName === focused.tagName
  const alike = () => [...content.querySelectorAll('button, a, summary')].filter(sameAs)
  const place = alike().indexOf(focused)
  return () => {
    const found = place < 0 ? undefined : alike()[place]
    if (found === undefined || found.disabled) focusHeading()
    else found.focus({ preventScroll: true })
    scrollTo(0, top)
  }
}

function showNothing() {
  document.title = `${say('no_such_page')} · ${say('service')}`
  content.className = ''
  content.replaceChildren(
    element('h1', {}, say('no_such_page')),
    element('p', {}, element('a', { href: '#/' }, say('overview'))),
  )
  focusHeading()
}

function focusHeading() {
  const heading = content.querySelector('h1')
  heading?.setAttribute('tabindex', '-1')
  // Somebody who opened the menu meanwhile stays in it.
  if (!document.querySelector('.menu[open]')) heading?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

function showSignIn() {
  document.title = `${say('sign_in')} · ${say('service')}`
  bar.replaceChildren()
  content.className = 'narrow'
  content.replaceChildren(element('div', { class: 'top' }, brand()), ...signInScreen(enter), signInFoot())
  focusHeading()
  content.querySelector('input')?.focus()
}

async function enter() {
  await readSession()
  await show()
}

async function signOut() {
  await send('DELETE', 'session').catch(() => {})
  await enter()
}

whenSignedOut(() => show())
// Back shows nothing of a session that may have ended, and no secret: the browser kept the page as it was.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return
  document.body.replaceChildren()
  location.reload()
})
addEventListener('hashchange', () => {
  forget()
  show()
})
// `/` leads to the search from every screen, as it does in many places; not while one types.
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && session !== null) {
    event.preventDefault()
    return find()
  }
  const isTyping = event.target.closest?.('input, select, textarea, dialog')
  if (event.key !== '/' || isTyping || session === null || !may('accounts:read')) return
  event.preventDefault()
  const search = document.querySelector('input[type=search]')
  if (search) search.focus()
  else location.hash = '#/accounts'
})
await enter()
