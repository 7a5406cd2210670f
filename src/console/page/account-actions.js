/** What is done for an account: each by a dialog that names it, says what follows, and does it. */
import { call, may, session } from './api.js'
import { announce, announceAt, dialog, keepButtons, showOnce } from './dialogs.js'
import { button, element, notice, say } from './elements.js'
import { choice, field } from './forms.js'
import { nameOf } from './screen-accounts.js'
import { exactTime } from './times.js'

/** Support staff hold some scopes in part only: the service has the last word. */
export const mayEverything = (scope) => may(scope) && session.administrator.role !== 'support'

/** Nothing of it is verified and nobody confirmed it: support may correct what the person typed. */
const isRegistration = (account) =>
  !account.account_confirmed && account.email_verified_at === null && account.phone_verified_at === null

export const mayChangeContacts = (account) =>
  mayEverything('accounts:write') || (may('accounts:write') && isRegistration(account))

/** Runs one change, says what was `done`, and shows the account as it is then. */
export const actions = (refresh) => ({
  async now(done, method, path, body) {
    try {
      await call(method, path, body)
      announce(done)
      await refresh()
    } catch (error) {
      announce(error.message)
    }
  },
  async ask(done, title, children, options) {
    const result = await dialog(title, children, options)
    if (result === undefined) return undefined
    announce(typeof done === 'function' ? done(result) : done)
    await refresh()
    return result
  },
})

/** A button that is not of use now says why, in words that everybody sees. */
function action(label, act, { kind = '', picture, why } = {}) {
  const made = button(label, act, kind, picture)
  if (why) made.disabled = true
  return { made, why: why && `${label.replace('…', '')}${say('colon')}${why}` }
}

/** The ways by which a temporary access code can reach the person. */
const waysOf = ({ email_verified_at: email, phone_verified_at: phone, account_confirmed: isConfirmed }) =>
  [
    email !== null && ['email', say('send_by_email')],
    phone !== null && ['sms', say('send_by_sms')],
    isConfirmed && mayEverything('accounts:recover') && ['', say('show_here')],
  ].filter(Boolean)

function whyNoCode(account) {
  if (!account.account_confirmed) return say('why_unconfirmed')
  return waysOf(account).length === 0 ? say('why_no_contact') : undefined
}

/** What support needs most, beside the name. */
export function actionsOf({ account, path, act, refresh }) {
  const name = nameOf(account)
  const canRecover = may('accounts:recover')
  const context = { account, path, act, refresh }
  const made = [
    !account.account_confirmed &&
      may('messages:write') &&
      action(
        say('resend_confirmation'),
        () => act.now(say('confirmation_resent', { name }), 'POST', `${path}/resend-confirmation`),
        { picture: 'mail' },
      ),
    mayEverything('accounts:write') &&
      !account.account_confirmed &&
      action(
        say('confirm'),
        () => act.now(say('account_confirmed_done', { name }), 'PATCH', path, { confirmed: true }),
        { picture: 'check' },
      ),
    mayEverything('accounts:write') &&
      !account.has_password &&
      action(
        say('invite_again'),
        () => act.now(say('invited_done', { name }), 'POST', `${path}/invite`, {}),
        { picture: 'mail' },
      ),
    canRecover &&
      action(say('forgot_password'), () => giveAccessCode(context), {
        picture: 'key',
        why: whyNoCode(account),
      }),
    canRecover &&
      account.two_factor_enabled &&
      account.removal_at === undefined &&
      action(say('lost_phone'), () => removeTwoFactor(context).catch((error) => announce(error.message)), {
        picture: 'shield',
      }),
    may('accounts:write') &&
      may('sessions:write') &&
      account.account_confirmed &&
      action(say('taken_over'), () => secure(context), { picture: 'alert' }),
    may('accounts:write') &&
      account.locked_at === null &&
      action(say('lock'), () => lock(context), { kind: 'danger', picture: 'lock' }),
  ].filter(Boolean)
  return {
    buttons: made.map(({ made: one }) => one),
    reasons: made.flatMap(({ why }) => why ?? []),
  }
}

const reasonField = () => field('locked_reason', say('locked_reason'), { maxlength: 500 })

const lock = ({ account, path, act }) =>
  act.ask(
    say('account_locked_done', { name: nameOf(account) }),
    say('lock_named', { name: nameOf(account) }),
    [element('p', {}, say('lock_why')), reasonField()],
    {
      label: say('lock_it'),
      submit: ({ locked_reason: reason }) =>
        call('PATCH', path, { locked: true, ...(reason && { locked_reason: reason }) }),
    },
  )

function showCode({ code }, name) {
  if (code === null) return
  showOnce(say('access_code_for', { name }), [
    element('p', {}, say('shown_once')),
    element('div', { class: 'once' }, element('code', { class: 'big' }, code)),
    keepButtons(code, 'access-code'),
  ])
}

const codeAsked = (send) => (send ? { send } : {})

async function giveAccessCode({ account, path, refresh }) {
  const name = nameOf(account)
  const ways = waysOf(account)
  const answer = await dialog(
    say('access_code_for', { name }),
    [
      account.locked_at !== null && notice('warn', say('code_while_locked')),
      element('p', {}, say('access_code_why')),
      field('send', say('how'), { options: ways, value: ways[0]?.[0] }),
    ],
    { label: say('create'), submit: ({ send }) => call('POST', `${path}/access-code`, codeAsked(send)) },
  )
  if (answer === undefined) return
  if (answer.code === null) announce(say('access_code_sent'))
  showCode(answer, name)
  await refresh()
}

/** Somebody else is in the account: locked first, then signed out everywhere, then the way back for its owner. */
async function secure({ account, path, refresh }) {
  const name = nameOf(account)
  const ways = waysOf(account)
  const steps = [
    account.locked_at === null && choice('lock', say('secure_lock'), { checked: true }),
    choice('end', say('secure_end'), { checked: true }),
    ways.length > 0 && choice('code', say('secure_code'), { checked: true }),
    ways.length > 1 && field('send', say('how'), { options: ways, value: ways[0][0] }),
    account.locked_at === null && reasonField(),
  ].filter(Boolean)
  const answer = await dialog(
    say('secure_named', { name }),
    [element('p', {}, say('secure_why')), ...steps],
    {
      label: say('secure_now'),
      async submit({ lock: locks, end, code, send = ways[0]?.[0], locked_reason: reason }) {
        if (locks) await call('PATCH', path, { locked: true, ...(reason && { locked_reason: reason }) })
        if (end) await call('DELETE', `${path}/sessions`)
        return code ? call('POST', `${path}/access-code`, codeAsked(send)) : { code: null }
      },
    },
  )
  // A step may have been done before the next one failed or was given up.
  await refresh()
  if (answer === undefined) return
  announce(say('secured', { name }))
  showCode(answer, name)
}

async function removeTwoFactor({ account, path, act, refresh }) {
  // Another page may have asked for it meanwhile.
  const { account: present } = await call('GET', path)
  if (present.removal_at !== undefined) {
    announce(say('removal_waits_already', { time: exactTime(present.removal_at) }))
    return refresh()
  }
  const title = say('remove_two_factor_of', { name: nameOf(account) })
  const waits = session.administrator.role === 'support'
  const count = present.recovery_codes
  const why = element('p', {}, [
    count > 0 && element('b', {}, `${say('ask_for_code', { count })} `),
    `${say('remove_two_factor_why')} `,
    element('b', {}, say(waits ? 'removed_tomorrow' : 'removed_at_once')),
  ])
  const done = ({ due_at: due }) =>
    due ? say('removal_asked', { time: exactTime(due) }) : say('two_factor_removed')
  await act.ask(done, title, why, {
    label: say('remove_two_factor'),
    danger: !waits,
    submit: () => call('DELETE', `${path}/two-factor`),
  })
}

export function changeContact({ account, path, act }, kind, value) {
  const waits = isRegistration(account)
  return act.ask(
    say(waits ? 'contact_corrected' : 'contact_changed'),
    say(value === null ? `add_${kind}` : `change_${kind}`),
    [
      element('p', {}, say(waits ? 'contact_gets_code' : 'contact_notices')),
      field('value', say(kind), { value: value ?? '', required: true, autocomplete: 'off' }),
      mayEverything('accounts:write') && choice('verified', say('contact_is_verified')),
    ].filter(Boolean),
    {
      label: say('save'),
      submit: ({ value: typed = '', verified }) =>
        call('PUT', `${path}/${kind}`, { value: typed, verified: verified === 'true' }),
    },
  )
}

export const removeContact = ({ path, act }, kind, value) =>
  act.ask(
    say('removed_done', { name: value }),
    say('remove_named', { name: value }),
    element('p', {}, say('remove_contact_why')),
    { label: say('remove'), danger: true, submit: () => call('DELETE', `${path}/${kind}`) },
  )

export const askToEnd = (act, done, title, path) =>
  act.ask(say(done), title, element('p', {}, say('end_why')), {
    label: say('end'),
    submit: () => call('DELETE', path),
  })

export const askToRemove = ({ path, act }, kind, id, name) =>
  act.ask(say('removed_done', { name }), say('remove_named', { name }), element('p', {}, say('remove_why')), {
    label: say('remove'),
    danger: true,
    submit: () => call('DELETE', `${path}/${kind}/${id}`),
  })

export async function exportAll({ account, path }) {
  try {
    const { status: _, ...content } = await call('GET', `${path}/export`)
    const file = new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' })
    const link = element('a', { href: URL.createObjectURL(file), download: `${account.uuid}.json` })
    link.click()
    URL.revokeObjectURL(link.href)
  } catch (error) {
    announce(error.message)
  }
}

export async function erase({ account, path }) {
  const name = nameOf(account)
  const done = await dialog(
    say('erase_named', { name }),
    [
      element('p', {}, say('erase_why')),
      field('typed', say('erase_type', { name }), { autocomplete: 'off', required: true }),
    ],
    {
      label: say('erase'),
      danger: true,
      submit({ typed }) {
        if (typed !== name) throw Object.assign(new Error(say('erase_type', { name })), { errors: [] })
        return call('DELETE', path)
      },
    },
  )
  if (done) announceAt('#/accounts', say('erased'))
}
