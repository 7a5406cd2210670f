// Passkeys, the countdown of "send again", and a code that submits itself. The pages work without it.

const byId = (id) => document.getElementById(id)
const all = (selector) => document.querySelectorAll(selector)

// A time that is left counts down, within its last hour: until then it stands in words.
const clock = (left) => `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
const isSoon = (left) => left <= 3600
const countDown = (left, show) => {
  const end = Date.now() + left * 1000
  const tick = () => {
    const now = Math.max(0, Math.ceil((end - Date.now()) / 1000))
    show(now)
    if (now > 0) setTimeout(tick, 1000)
  }
  tick()
}
for (const time of all('[data-left]'))
  countDown(Number(time.dataset.left), (left) => {
    if (isSoon(left)) time.textContent = clock(left)
    const notice = time.closest('.notice')
    if (left === 0 && notice) notice.hidden = true
  })

// "Send again", and a button that was pressed too often, open when their time has come.
for (const button of all('[data-wait]')) {
  const label = button.textContent
  const waits = () => button.getAttribute('aria-disabled') === 'true'
  button.addEventListener('click', (event) => waits() && event.preventDefault())
  countDown(Number(button.dataset.wait), (left) => {
    button.setAttribute('aria-disabled', String(left > 0))
    button.textContent = left > 0 && isSoon(left) ? `${label} (${clock(left)})` : label
  })
}

// A form is sent once, and not while the browser is offline.
const offline = byId('offline')
addEventListener('online', () => {
  offline.hidden = true
})
document.addEventListener('submit', (event) => {
  const form = event.target
  const button = event.submitter
  if (!navigator.onLine) {
    offline.hidden = false
    offline.textContent = offline.dataset.text
    event.preventDefault()
  } else if (form.dataset.sent) event.preventDefault()
  else if (!event.defaultPrevented) {
    form.dataset.sent = 'yes'
    // The page stays after a file, and nothing tells when it has come.
    const isFile = form.hasAttribute('data-file')
    // Enter presses a button that nobody sees, where another way lies above the purpose of the form.
    const seen = button?.className === 'hidden' ? form.querySelector('.main') : button
    if (seen && !isFile) seen.setAttribute('aria-busy', 'true')
    setTimeout(restore, isFile ? 1000 : 10000)
  }
})
const restore = () => {
  for (const form of document.forms) delete form.dataset.sent
  for (const button of all('[aria-busy]')) button.removeAttribute('aria-busy')
}
// Back shows nothing that the browser kept: somebody may have signed out meanwhile.
addEventListener('pageshow', ({ persisted }) => {
  restore()
  if (persisted) location.replace(location.pathname + location.search)
})

// Six digits are a whole code, unless something else has to be filled in or may still be ticked.
const code = document.querySelector('input.code:not(.waits)')
if (code)
  code.addEventListener('input', () => {
    const { form } = code
    const whole = /^\p{Nd}{6}$/u.test(code.value.replace(/[^\p{L}\p{N}]/gu, ''))
    if (!whole || !form.checkValidity() || form.querySelector('[type=checkbox]:not(:checked)')) return
    if (!form.dataset.sent) form.requestSubmit()
  })

// Another language of the page keeps what was typed, except secrets.
const typed = () => all('main input:not([type=password]):not([type=hidden]):not([name=otp])')
const kept = sessionStorage.getItem('typed')
sessionStorage.removeItem('typed')
if (kept) {
  const [path, values] = JSON.parse(kept)
  if (path === location.pathname)
    for (const input of typed())
      if (input.name in values)
        if (input.type === 'checkbox') input.checked = values[input.name]
        else input.value = values[input.name]
}
for (const link of all('.languages a'))
  link.addEventListener('click', () => {
    const values = {}
    for (const input of typed()) values[input.name] = input.type === 'checkbox' ? input.checked : input.value
    sessionStorage.setItem('typed', JSON.stringify([location.pathname, values]))
  })

for (const button of all('[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', () =>
    navigator.clipboard.writeText(byId(button.dataset.copy).innerText.replaceAll(' ', '').trim()).then(() => {
      button.lastElementChild.textContent = button.dataset.done
    }),
  )
}
for (const button of all('[data-show]')) {
  const input = byId(button.dataset.show)
  const show = (shown) => {
    input.type = shown ? 'text' : 'password'
    button.setAttribute('aria-pressed', shown)
  }
  button.hidden = false
  button.addEventListener('click', () => show(input.type === 'password'))
  input.form.addEventListener('submit', () => show(false))
}
for (const button of all('[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => print())
}

// A form with data-passkey names where its options come from; the answer goes into its field `credential`.
const Key = window.PublicKeyCredential
for (const part of all('[data-without-passkeys]')) part.hidden = Boolean(Key)
const ask = async (form, from = form.dataset.options) => {
  const answer = await fetch(from, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
  // The problem of the form is on the page that it leads back to.
  if (answer.redirected) location.assign(answer.url)
  if (!answer.ok || answer.redirected) throw new DOMException('', 'AbortError')
  return answer.json()
}
const finish = (form, credential) => {
  form.elements.credential.value = JSON.stringify(writeCredential(credential))
  form.submit()
}
const get = async (form, more, from) => {
  const publicKey = readOptions(await ask(form, from))
  finish(form, await navigator.credentials.get({ publicKey, ...more }))
}
const create = async (form) => {
  const publicKey = readOptions(await ask(form))
  finish(form, await navigator.credentials.create({ publicKey }))
}
if (Key) {
  let conditional = null
  for (const part of all('[data-with-passkeys]')) part.hidden = false
  for (const form of all('form[data-passkey]')) {
    const work = form.dataset.passkey === 'create' ? create : get
    form.hidden = false
    form.addEventListener('submit', (event) => {
      if (event.submitter?.hasAttribute('formaction')) return
      event.preventDefault()
      if (conditional) conditional.abort()
      const failed = byId(form.dataset.failed)
      if (failed) failed.hidden = true
      work(form).catch((error) => {
        if (failed && error.name !== 'AbortError') failed.hidden = false
      })
    })
    // The browser offers passkeys in the field of the identifier.
    if (form.dataset.conditional && Key.isConditionalMediationAvailable)
      Key.isConditionalMediationAvailable().then((can) => {
        if (!can) return
        conditional = new AbortController()
        get(form, { mediation: 'conditional', signal: conditional.signal }).catch(() => {})
      })
  }
  // A form that asks for a password takes a passkey instead.
  for (const button of all('[data-step-up]')) {
    button.hidden = false
    const failed = byId(button.dataset.failed)
    button.addEventListener('click', () => {
      failed.hidden = true
      for (const proof of button.form.querySelectorAll('[autocomplete=current-password], [name=otp]'))
        proof.required = false
      if (!button.form.reportValidity()) return
      get(button.form, {}, button.dataset.stepUp).catch(() => (failed.hidden = false))
    })
  }
  // The browser forgets a passkey that is unknown here, and those that were removed.
  const told = byId('passkey-signal')
  if (told) {
    const { method, ...about } = JSON.parse(told.textContent)
    if (Key[method]) Key[method](about).catch(() => {})
  }
}
