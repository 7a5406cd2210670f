/** The bar on top: the name of the service, the screens, a way to find anything, and who is signed in. */
import { session } from './api.js'
import { avatar, button, element, icon, say } from './elements.js'

const shortcut = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'
const { languages, logo } = JSON.parse(document.getElementById('look').textContent)

const mark = () =>
  element('span', { class: 'mark', 'aria-hidden': 'true' }, [...say('service')][0]?.toUpperCase())

/** The name of the service with its logo, or with its initial. A logo that is wider than a mark says the name itself. */
export function brand() {
  const name = element('span', {}, say('service'))
  const parts = logo === null ? [mark(), name] : [picture(), logo.isMark && name]
  return element('a', { class: 'brand', href: '#/' }, parts)
}

function picture() {
  const alt = logo.isMark ? '' : say('service')
  if (!logo.hasDark) return element('img', { src: '/admin/logo', alt, class: 'plate' })
  const media = '(prefers-color-scheme: dark)'
  return element('picture', {}, [
    element('source', { srcset: '/admin/logo-dark', media }),
    element('img', { src: '/admin/logo', alt }),
  ])
}

/** Links to this screen in each language; the present one has a check. */
function languageLinks() {
  const { lang } = document.documentElement
  const links = languages.map(([tag, name]) => {
    const here = tag === lang
    return element(
      'a',
      {
        href: `/admin/?lang=${tag}${location.hash}`,
        lang: tag,
        hreflang: tag,
        'aria-current': here ? 'true' : null,
      },
      [name, here && icon('check')],
    )
  })
  return links
}

/** The languages behind a globe, as on the pages for people. */
export function signInFoot() {
  const links = languageLinks()
  const here = languages.find(([tag]) => tag === document.documentElement.lang)[1]
  const label = element('span', { class: 'hidden' }, say('language') + say('colon'))
  return element('div', { class: 'bottom' }, [
    element('details', { class: 'languages' }, [
      element('summary', {}, [icon('globe'), element('span', {}, [label, here])]),
      element(
        'ul',
        {},
        links.map((link) => element('li', {}, link)),
      ),
    ]),
  ])
}

/** Who is signed in, the language, and the way out. */
function menu(signOut) {
  const { email, phone, role } = session.administrator
  const name = email ?? phone ?? ''
  const box = element('details', { class: 'menu' }, [
    element('summary', { 'aria-label': `${say('me')}${say('colon')}${name}` }, avatar(name)),
    element('div', {}, [
      element('a', { class: 'name', href: '#/me' }, [name, element('span', {}, say(`role_${role}`))]),
      element('hr'),
      ...languageLinks(),
      element('hr'),
      element('button', { type: 'button', onclick: signOut }, [say('sign_out'), icon('leave')]),
    ]),
  ])
  box.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return
    box.open = false
    box.firstChild.focus()
  })
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!box.contains(relatedTarget) && relatedTarget !== null) box.open = false
  })
  return box
}

addEventListener('click', ({ target }) => {
  const open = document.querySelector('.menu[open]')
  if (open && (!open.contains(target) || target.closest('a'))) open.open = false
})

/** `screens`: pairs of an address and its words. */
export function showBar(bar, { current, screens, find, signOut }) {
  const link = ([address, label]) =>
    element('a', { href: `#/${address}`, 'aria-current': address === current ? 'page' : null }, label)
  bar.replaceChildren(
    brand(),
    element('nav', { 'aria-label': say('navigation') }, screens.map(link)),
    button([icon('search'), element('span', {}, say('find')), element('kbd', {}, shortcut)], find, 'find'),
    menu(signOut),
  )
  bringInSight()
}

/** On a phone the screens are a row that scrolls. The page itself stays where it is, which `scrollIntoView` would move. */
function bringInSight() {
  const present = document.querySelector('.bar nav [aria-current]')
  if (present === null) return
  const row = present.parentElement
  row.scrollLeft = present.offsetLeft - row.offsetLeft - (row.clientWidth - present.offsetWidth) / 2
}
addEventListener('resize', bringInSight)
