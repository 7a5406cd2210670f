/** Elements of the page: made here and nowhere by text, so that nothing that a person typed becomes markup. */

export const words = JSON.parse(document.getElementById('words').textContent)

/** The sentence of this key, with `{name}` replaced. */
export const say = (key, values = {}) =>
  (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '')

/** `attributes`: `on…` are listeners, true is an attribute without value, false, null and undefined are left out. */
export function element(name, attributes = {}, children = []) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
    else made.setAttribute(key, value === true ? '' : value)
  }
  made.append(
    ...[children].flat().filter((child) => child !== null && child !== undefined && child !== false),
  )
  return made
}

export const button = (label, onclick, kind = '') =>
  element('button', { type: 'button', class: kind, onclick }, label)

const times = new Intl.DateTimeFormat(document.documentElement.lang, {
  dateStyle: 'full',
  timeStyle: 'medium',
})

const days = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium' })
const spans = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: 'auto' })
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const WEEK_MS = 7 * 86_400_000

/** "3 hours ago", and after a week the day. */
function near(date) {
  const ms = date.getTime() - Date.now()
  if (Math.abs(ms) > WEEK_MS) return days.format(date)
  if (Math.abs(ms) < 60_000) return say('just_now')
  const [unit, size] = units.find(([, one]) => Math.abs(ms) >= one) ?? ['minute', 60_000]
  return spans.format(Math.trunc(ms / size), unit)
}

/** Writes a time as people say it, and shows the exact time in the reader's time zone on hover. */
export const time = (iso) =>
  iso === null || iso === undefined
    ? ''
    : element('time', { datetime: iso, title: times.format(new Date(iso)) }, near(new Date(iso)))

export const exactTime = (iso) => times.format(new Date(iso))

/** Grey bars where a list will be. */
export const skeleton = (lines = 5) =>
  element(
    'div',
    { class: 'skeleton', role: 'status', 'aria-label': say('loading') },
    Array.from({ length: lines }, () => element('span')),
  )

export const number = (value) => new Intl.NumberFormat(document.documentElement.lang).format(value)

export const tag = (label, kind = 'soft') => element('span', { class: `tag ${kind}` }, label)

/** `rows`: pairs of a word and what stands beside it; what is empty is left out. */
export const facts = (rows) =>
  element(
    'dl',
    {},
    rows
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .flatMap(([label, value]) => [element('dt', {}, label), element('dd', {}, value)]),
  )

export const card = (title, children, attributes = {}) =>
  element('section', { class: 'card', ...attributes }, [
    title && element('h2', {}, title),
    ...[children].flat(),
  ])

/** A card that is folded on a phone, where an account would be many screens long. */
export const fold = (title, children) =>
  matchMedia('(max-width: 760px)').matches
    ? element('details', { class: 'card fold' }, [
        element('summary', {}, element('h2', {}, title)),
        ...[children].flat(),
      ])
    : card(title, children)

/** `columns`: pairs of a heading and a function of a row. On a narrow screen every row becomes a list. */
export function table(columns, rows, caption) {
  const body = element('tbody')
  const made = element('table', { class: 'stacks' }, [
    caption && element('caption', {}, caption),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        columns.map(([label]) => element('th', { scope: 'col' }, label)),
      ),
    ),
    body,
  ])
  made.add = (more) => {
    for (const row of more)
      body.append(
        element(
          'tr',
          {},
          columns.map(([label, cell]) => element('td', { 'data-label': label }, cell(row))),
        ),
      )
  }
  made.add(rows)
  return made
}

let fields = 0

/** A phone changes nothing of an address, a code or a password. */
export const asTyped = { autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' }

/**
 * A labelled input; `options` makes it a choice. `showErrors` finds it by its name. A field with `autocomplete` takes what
 * is typed as it is.
 */
export function field(name, label, { options, value = '', hint, tagName = 'input', ...attributes } = {}) {
  fields += 1
  const id = `field-${fields}`
  const literal = attributes.autocomplete && asTyped
  const common = { id, name, ...literal, ...(hint && { 'aria-describedby': `${id}-hint` }), ...attributes }
  const control = options
    ? element(
        'select',
        common,
        options.map(([key, text]) => element('option', { value: key, selected: key === value }, text)),
      )
    : element(tagName, tagName === 'input' ? { ...common, value } : common, tagName === 'input' ? [] : value)
  return element('label', { for: id }, [
    label,
    hint && element('span', { class: 'hint', id: `${id}-hint` }, hint),
    control,
  ])
}

export const choice = (name, label, { value = 'true', checked = false } = {}) =>
  element('label', { class: 'choice' }, [element('input', { type: 'checkbox', name, value, checked }), label])

/** Returns the values that were typed, without the empty ones. */
export function valuesOf(form) {
  const values = {}
  for (const [name, value] of new FormData(form)) if (value !== '') values[name] = value
  return values
}

/** Shows an error of the interface in its form: the sentence on top, each field's own beside it. */
export function showErrors(form, error) {
  for (const old of form.querySelectorAll('.field-error')) old.remove()
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid')
  let alert = form.querySelector('[role=alert]')
  if (!alert) {
    alert = element('div', { role: 'alert' })
    form.prepend(alert)
  }
  alert.textContent = error === null ? '' : error.message
  for (const { field: name, message } of error?.errors ?? []) {
    const control = form.elements.namedItem(name)
    if (!(control instanceof HTMLElement)) continue
    control.setAttribute('aria-invalid', 'true')
    control.closest('label')?.append(element('span', { class: 'field-error' }, message))
    control.focus()
  }
}

/** A form that calls `submit` with its values, is disabled meanwhile, and shows what went wrong. */
export function form(children, submit, attributes = {}) {
  const made = element('form', { novalidate: true, ...attributes }, children)
  made.addEventListener('submit', async (event) => {
    event.preventDefault()
    const buttons = made.querySelectorAll('button')
    for (const one of buttons) one.disabled = true
    try {
      await submit(valuesOf(made), made)
      if (made.isConnected) showErrors(made, null)
    } catch (error) {
      showErrors(made, error)
    } finally {
      for (const one of buttons) one.disabled = false
    }
  })
  return made
}

/** A dialog with a form; resolves to what `submit` gave, or to undefined where it was closed. */
export function dialog(title, children, { submit, label, danger = false }) {
  return new Promise((resolve) => {
    let result
    const box = element('dialog', { 'aria-labelledby': 'dialog-title' })
    const inside = form(
      [
        element('h2', { id: 'dialog-title' }, title),
        ...[children].flat(),
        element('div', { class: 'row end' }, [
          button(say('cancel'), () => box.close()),
          element('button', { type: 'submit', class: danger ? 'danger' : 'main' }, label),
        ]),
      ],
      async (values, self) => {
        result = (await submit(values, self)) ?? true
        box.close()
      },
    )
    box.append(inside)
    box.addEventListener('close', () => {
      box.remove()
      resolve(result)
    })
    document.body.append(box)
    box.showModal()
  })
}

/** Shows something once, such as a code, until it is closed. */
export function showOnce(title, children) {
  const box = element('dialog', { 'aria-labelledby': 'once-title' })
  box.append(
    element('h2', { id: 'once-title' }, title),
    ...[children].flat(),
    element(
      'div',
      { class: 'row end' },
      button(say('close'), () => box.close(), 'main'),
    ),
  )
  box.addEventListener('close', () => box.remove())
  document.body.append(box)
  box.showModal()
}

/** Ways to keep what is shown once: copy, print, and a file. */
export function keepButtons(text, name) {
  const copy = button(
    say('copy'),
    async () => {
      await navigator.clipboard.writeText(text).catch(() => {})
      announce(say('copied'))
    },
    'small',
  )
  const save = () => {
    const link = element('a', {
      href: URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' })),
      download: `${name}.txt`,
    })
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return element('div', { class: 'row keep' }, [
    copy,
    button(say('print'), () => print(), 'small'),
    button(say('save_file'), save, 'small'),
  ])
}

let clearing

/** Tells what was done, for the eye and for screen readers. */
export function announce(text) {
  const status = document.getElementById('status')
  status.textContent = text
  clearTimeout(clearing)
  clearing = setTimeout(() => {
    status.textContent = ''
  }, 4000)
}
