/** Dialogs, what is shown once, and the sentence that tells what was done. */
import { button, element, say, titleOf } from './elements.js'
import { form } from './forms.js'

/** A dialog with a form; resolves to what `submit` gave, or to undefined where it was closed. */
export function dialog(title, children, { submit, label, danger = false }) {
  return new Promise((resolve) => {
    let result
    const box = element('dialog', { 'aria-labelledby': 'dialog-title' })
    const inside = form(
      [
        element('h2', { id: 'dialog-title' }, titleOf(title)),
        ...[children].flat(),
        element('div', { class: 'acts end' }, [
          button(say('cancel'), () => box.close()),
          element('button', { type: 'submit', class: danger ? 'button danger' : 'button' }, label),
        ]),
      ],
      async (values, self) => {
        result = (await submit(values, self)) ?? true
        box.close()
      },
    )
    box.append(inside)
    show(box, () => resolve(result))
  })
}

/** Shows something until it is closed: a code that is told once, or what is known of a row. */
export function showOnce(title, children) {
  const box = element('dialog', { 'aria-labelledby': 'once-title' })
  box.append(
    element('h2', { id: 'once-title' }, titleOf(title)),
    ...[children].flat().filter(Boolean),
    element(
      'div',
      { class: 'acts end' },
      button(say('close'), () => box.close(), 'main'),
    ),
  )
  show(box)
}

function show(box, closed) {
  box.addEventListener('close', () => {
    box.remove()
    closed?.()
  })
  // Another screen, as by Back, is not to be covered by the question of this one.
  addEventListener('hashchange', () => box.close(), { once: true })
  document.body.append(box)
  box.showModal()
  box.classList.toggle('scrolls', box.scrollHeight > box.clientHeight)
}

const copy = (text) => async () => {
  await navigator.clipboard.writeText(text).catch(() => {})
  announce(say('copied'))
}

/** A text that is shown once, with a button that copies it. */
export const copyable = (text) =>
  element('div', { class: 'once' }, [element('code', {}, text), button(say('copy'), copy(text), '', 'copy')])

/** Ways to keep what is shown once: copy, print, and a file, which may begin with a `heading`. */
export function keepButtons(text, name, heading = '') {
  const save = () => {
    const link = element('a', {
      href: URL.createObjectURL(new Blob([`${heading}${text}\n`], { type: 'text/plain' })),
      download: `${name}.txt`,
    })
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return element('div', { class: 'acts keep' }, [
    button(say('copy'), copy(text), '', 'copy'),
    button(say('print'), () => print(), '', 'print'),
    button(say('save_file'), save, '', 'download'),
  ])
}

const STAYS_MS = 6000
let clearing

/** Tells what was done, for the eye and for screen readers. It goes with the screen. */
export function announce(text) {
  const status = document.getElementById('status')
  status.textContent = text
  clearTimeout(clearing)
  clearing = setTimeout(forget, STAYS_MS)
}

/** Leads to another screen, and tells there what was done. */
export function announceAt(hash, text) {
  addEventListener('hashchange', () => announce(text), { once: true })
  location.hash = hash
}

export function forget() {
  clearTimeout(clearing)
  document.getElementById('status').textContent = ''
}
