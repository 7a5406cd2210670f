/** Forms and their fields. */
import { element, icon, say } from './elements.js'

let fields = 0

/** A phone changes nothing of an address, a code or a password. */
export const asTyped = { autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' }

/**
 * A labelled input; `options` makes it a choice, and `suggestions` offers words for it. `showErrors` finds it by its name.
 * A field with `autocomplete` takes what is typed as it is.
 */
export function field(name, label, settings = {}) {
  const { options, suggestions, value = '', hint, tagName = 'input', ...attributes } = settings
  fields += 1
  const id = `field-${fields}`
  const literal = attributes.autocomplete && asTyped
  const list = suggestions && { list: `${id}-list` }
  const common = {
    id,
    name,
    ...literal,
    ...list,
    ...(hint && { 'aria-describedby': `${id}-hint` }),
    ...attributes,
  }
  const control = options
    ? element(
        'select',
        common,
        options.map(([key, text]) => element('option', { value: key, selected: key === value }, text)),
      )
    : element(tagName, tagName === 'input' ? { ...common, value } : common, tagName === 'input' ? [] : value)
  return element('div', { class: 'field' }, [
    element('label', { class: 'label', for: id }, label),
    control,
    suggestions &&
      element(
        'datalist',
        { id: `${id}-list` },
        suggestions.map((word) => element('option', { value: word })),
      ),
    hint && element('p', { class: 'hint', id: `${id}-hint` }, hint),
  ])
}

/** A field that searches while one types. `/` leads to it. `labelled`: its label is seen, as those beside it are. */
export function searchField(name, label, { labelled = false, ...attributes }) {
  const made = field(name, label, { type: 'search', autocomplete: 'off', ...attributes })
  made.classList.add('search')
  if (!labelled) made.querySelector('label').classList.add('hidden')
  made.append(icon('search'), element('kbd', { 'aria-hidden': 'true' }, '/'))
  return made
}

/** A day. While it is empty it says so, and not the pattern in which a browser writes days. */
export function dayField(name, label, value = '') {
  const made = field(name, label, { type: 'date', value })
  made.classList.add('date')
  const input = made.querySelector('input')
  const mark = () => input.classList.toggle('filled', input.value !== '')
  for (const moment of ['input', 'change', 'blur']) input.addEventListener(moment, mark)
  input.after(element('span', { class: 'any-day', 'aria-hidden': 'true' }, say('any_day')))
  mark()
  return made
}

/** One of a few, side by side. `options`: pairs of a value and its words. */
export const tabs = (name, label, options, value = '') =>
  element('fieldset', { class: 'tabs' }, [
    element('legend', { class: 'hidden' }, label),
    ...options.map(([key, text]) =>
      element('label', {}, [
        element('input', { type: 'radio', name, value: key, checked: key === value }),
        element('span', {}, text),
      ]),
    ),
  ])

export const choice = (name, label, { value = 'true', checked = false } = {}) =>
  element('label', { class: 'check' }, [
    element('input', { type: 'checkbox', name, value, checked }),
    element('span', {}, label),
  ])

/** Returns the values that were typed, without the empty ones. */
export function valuesOf(form) {
  const values = {}
  for (const [name, value] of new FormData(form)) if (value !== '') values[name] = value
  return values
}

/** "a, b  c" as three words. */
export const listOf = (typed = '') => typed.split(/[\s,;]+/).filter(Boolean)

/** An error is announced, and shows in the look of a notice. */
export const alertOf = (message) =>
  element('div', { class: 'notice bad', role: 'alert' }, [icon('alert'), element('div', {}, message)])

/** Shows an error of the interface in its form: the sentence on top, each field's own in the place of its hint. */
export function showErrors(form, error) {
  for (const old of form.querySelectorAll('.wrong, :scope > [role=alert]')) old.remove()
  for (const hint of form.querySelectorAll('.hint')) hint.hidden = false
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid')
  if (error === null) return
  const heading = form.querySelector('h2')
  if (heading) heading.after(alertOf(error.message))
  else form.prepend(alertOf(error.message))
  for (const { field: name, message } of error.errors ?? []) {
    const control = form.elements.namedItem(name)
    if (!(control instanceof HTMLElement)) continue
    const holder = control.closest('.field')
    const hint = holder?.querySelector('.hint')
    if (hint) hint.hidden = true
    const id = `${control.id}-wrong`
    holder?.append(element('p', { class: 'wrong', id }, [icon('alert'), element('span', {}, message)]))
    control.setAttribute('aria-invalid', 'true')
    control.setAttribute('aria-describedby', id)
    control.focus()
  }
}

/** A form that calls `submit` with its values, is disabled meanwhile, and shows what went wrong. */
export function form(children, submit, attributes = {}) {
  const made = element('form', { novalidate: true, ...attributes }, children)
  made.addEventListener('submit', async (event) => {
    event.preventDefault()
    const buttons = made.querySelectorAll('button')
    const busy = made.querySelector('[type=submit]')
    busy?.setAttribute('aria-busy', 'true')
    for (const one of buttons) one.disabled = true
    try {
      await submit(valuesOf(made), made)
      if (made.isConnected) showErrors(made, null)
    } catch (error) {
      showErrors(made, error.code === 'cancelled' ? null : error)
    } finally {
      busy?.removeAttribute('aria-busy')
      for (const one of buttons) one.disabled = false
    }
  })
  return made
}
