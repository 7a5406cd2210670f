/** One account: what is known of it, and everything that can be done for it. */
import { call, may, session } from './api.js'
import { announce, announceAt, dialog, keepButtons, showOnce } from './dialogs.js'
import { button, card, element, facts, fold, say, table } from './elements.js'
import { choice, field } from './forms.js'
import { pagedTable } from './pages.js'
import { nameOf, readRole, stateOf } from './screen-accounts.js'
import { eventColumns, mergeEvents } from './screen-events.js'
import { messageColumns } from './screen-messages.js'
import { exactTime, time } from './times.js'

/** Support staff hold some scopes in part only: the service has the last word. */
const mayEverything = (scope) => may(scope) && session.administrator.role !== 'support'

const languages = new Intl.DisplayNames(document.documentElement.lang, { type: 'language' })

export async function accountScreen(uuid, refresh) {
  const path = `accounts/${uuid}`
  const [{ account }, sessions, passkeys, identities] = await Promise.all([
    call('GET', path),
    call('GET', `${path}/sessions?limit=200`),
    call('GET', `${path}/passkeys?limit=200`),
    call('GET', `${path}/identities?limit=200`),
  ])
  const context = { account, path, refresh, act: actions(refresh) }
  return [
    element('p', {}, element('a', { href: '#/accounts' }, say('all_accounts'))),
    element('div', { class: 'title' }, [
      element('div', { class: 'acts' }, [element('h1', {}, nameOf(account)), stateOf(account)]),
      element('div', { class: 'acts' }, actionsOf(context)),
    ]),
    waitingRemoval(context),
    ...undoableChanges(context),
    element('div', { class: 'columns' }, [
      element('div', {}, [overview(context), contacts(context)]),
      element('div', {}, [access(context), data(context)]),
    ]),
    fold(say('sessions'), sessionList(context, sessions.items)),
    passkeys.items.length > 0 && fold(say('passkeys'), passkeyList(context, passkeys.items)),
    identities.items.length > 0 && fold(say('identities'), identityList(context, identities.items)),
    may('messages:read') &&
      fold(
        say('messages'),
        await pagedTable(`${path}/messages`, { limit: 10 }, messageColumns(refresh), {
          empty: say('no_messages_of'),
        }),
      ),
    may('events:read') &&
      fold(
        say('history'),
        await pagedTable(`${path}/events`, { limit: 10 }, eventColumns(false, contactsOf(account)), {
          merge: mergeEvents,
        }),
      ),
    danger(context),
  ].filter(Boolean)
}

/** Runs one change, says what was `done`, and shows the account as it is then. */
const actions = (refresh) => ({
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

const overview = ({ account }) =>
  card(say('account'), [
    facts([
      [say('locked_reason'), account.locked_reason],
      [say('last_lock_reason'), account.last_lock_reason],
      ['uuid', element('code', {}, account.uuid)],
      ['id', String(account.id)],
      [say('created'), time(account.created_at)],
      [say('last_sign_in'), time(account.current_sign_in_at)],
      [say('sign_ins'), String(account.sign_in_count)],
      [say('provider'), account.provider === 'local' ? null : account.provider],
      [say('language'), languages.of(account.language)],
    ]),
  ])

const contactButtons = ({ path, act }, kind, value) => [
  button(say(value === null ? 'add' : 'change'), () => changeContact({ path, act }, kind, value)),
  value !== null && button(say('remove'), () => removeContact({ path, act }, kind, value)),
]

const removeContact = ({ path, act }, kind, value) =>
  act.ask(
    say('removed_done', { name: value }),
    say('remove_named', { name: value }),
    element('p', {}, say('remove_contact_why')),
    { label: say('remove'), danger: true, submit: () => call('DELETE', `${path}/${kind}`) },
  )

function contacts(context) {
  const { account, act } = context
  const row = (kind, value, verifiedAt) => [
    say(kind),
    element('div', {}, [
      value ?? '—',
      value !== null &&
        element(
          'span',
          { class: 'soft' },
          verifiedAt === null ? ` · ${say('not_verified')}` : ` · ${say('verified')}`,
        ),
      mayEverything('accounts:write') &&
        element('div', { class: 'acts' }, contactButtons(context, kind, value)),
    ]),
  ]
  return card(say('contacts'), [
    facts([
      row('email', account.email, account.email_verified_at),
      row('phone', account.phone, account.phone_verified_at),
    ]),
    may('limits:write') && element('div', { class: 'acts end' }, limitButtons({ account, act })),
  ])
}

const limitButtons = ({ account, act }) =>
  [account.email, account.phone]
    .filter((identifier) => identifier !== null)
    .map((identifier) =>
      button(say('lift_limits', { identifier }), () =>
        act.now(say('limits_lifted', { identifier }), 'DELETE', `limits/${encodeURIComponent(identifier)}`),
      ),
    )

const changeContact = ({ path, act }, kind, value) =>
  act.ask(
    say('contact_changed'),
    say(`change_${kind}`),
    [
      element('p', {}, say('contact_notices')),
      field('value', say(kind), { value: value ?? '', required: true, autocomplete: 'off' }),
      choice('verified', say('contact_is_verified')),
    ],
    {
      label: say('save'),
      submit: ({ value: typed = '', verified }) =>
        call('PUT', `${path}/${kind}`, { value: typed, verified: verified === 'true' }),
    },
  )

const access = ({ account }) =>
  fold(say('access'), [
    facts([
      [say('password'), account.has_password ? say('yes') : say('no')],
      [
        say('second_factor'),
        account.two_factor_enabled
          ? account.factors.map((method) => say(`method_${method}`)).join(', ') || say('yes')
          : say('no'),
      ],
      [say('passkeys'), String(account.passkeys)],
      [say('identities'), String(account.identities)],
      [say('sessions'), String(account.sessions)],
    ]),
  ])

/** The actions that support needs most, beside the name. */
function actionsOf({ account, path, act, refresh }) {
  const canRecover = may('accounts:recover')
  return [
    mayEverything('accounts:write') &&
      !account.account_confirmed &&
      button(say('confirm'), () =>
        act.now(say('account_confirmed_done', { name: nameOf(account) }), 'PATCH', path, { confirmed: true }),
      ),
    mayEverything('accounts:write') &&
      !account.has_password &&
      button(say('invite_again'), () =>
        act.now(say('invited_done', { name: nameOf(account) }), 'POST', `${path}/invite`, {}),
      ),
    canRecover && button(say('access_code'), () => giveAccessCode({ account, path })),
    canRecover &&
      account.two_factor_enabled &&
      account.removal_at === undefined &&
      button(say('remove_two_factor'), () =>
        removeTwoFactor({ account, path, act, refresh }).catch((error) => announce(error.message)),
      ),
    may('accounts:write') &&
      (account.locked_at === null
        ? button(say('lock'), () => lock({ account, path, act }), 'danger')
        : button(say('unlock'), () =>
            act.now(say('account_unlocked_done', { name: nameOf(account) }), 'PATCH', path, {
              locked: false,
            }),
          )),
  ]
}

/** A removal of two factors that waits, and the way to stop it. */
const waitingRemoval = ({ account, path, act }) =>
  account.removal_at !== undefined &&
  element('div', { class: 'notice' }, [
    element('span', {}, say('removal_waits', { time: exactTime(account.removal_at) })),
    may('accounts:recover') &&
      button(say('cancel_removal'), () =>
        act.now(say('removal_cancelled'), 'DELETE', `${path}/two-factor/removal`),
      ),
  ])

/** Gives for an event from what to what it changed a contact. Former contacts are known for seven days, and masked. */
const contactsOf =
  ({ contact_changes: changes = [], ...account }) =>
  ({ created_at: at, data }) => {
    const ofKind = changes.filter(({ contact }) => contact === data.contact)
    const place = ofKind.findIndex(({ changed_at: changedAt }) => changedAt === at)
    if (place < 0) return ''
    const [from, to] = [ofKind[place].former, ofKind[place - 1]?.former ?? account[data.contact]]
    return to ? say('from_to', { from, to }) : from
  }

/** Changes of contacts by the owner, or by somebody in their place, that can be undone. */
const undoableChanges = ({ account, path, act }) =>
  (account.contact_changes ?? [])
    .filter(({ can_undo: canUndo }) => canUndo)
    .map(({ id, contact, former, changed_at: at }) =>
      element('div', { class: 'notice' }, [
        element('span', {}, [say(`former_${contact}`, { former }), ' ', time(at), '.']),
        may('accounts:recover') &&
          button(say('put_back'), () =>
            act.ask(
              say('contact_put_back', { former }),
              say('put_back_named', { former, name: nameOf(account) }),
              element('p', {}, say('put_back_why')),
              {
                label: say('put_back'),
                danger: true,
                submit: () => call('DELETE', `${path}/contact-changes/${id}`),
              },
            ),
          ),
      ]),
    )

const lock = ({ account, path, act }) =>
  act.ask(
    say('account_locked_done', { name: nameOf(account) }),
    say('lock_named', { name: nameOf(account) }),
    [element('p', {}, say('lock_why')), field('locked_reason', say('locked_reason'), { maxlength: 500 })],
    {
      label: say('lock'),
      danger: true,
      submit: ({ locked_reason: reason }) =>
        call('PATCH', path, { locked: true, ...(reason && { locked_reason: reason }) }),
    },
  )

async function giveAccessCode({ account, path }) {
  const ways = [
    account.email_verified_at !== null && ['email', say('send_by_email')],
    account.phone_verified_at !== null && ['sms', say('send_by_sms')],
    mayEverything('accounts:recover') && ['', say('show_here')],
  ].filter(Boolean)
  const answer = await dialog(
    say('access_code_for', { name: nameOf(account) }),
    [
      element('p', {}, say('access_code_why')),
      field('send', say('how'), { options: ways, value: ways[0]?.[0] }),
    ],
    { label: say('create'), submit: ({ send }) => call('POST', `${path}/access-code`, send ? { send } : {}) },
  )
  if (answer === undefined) return
  if (answer.code === null) return announce(say('access_code_sent'))
  showOnce(say('access_code'), [
    element('p', {}, say('shown_once')),
    element('p', {}, element('code', { class: 'big' }, answer.code)),
    keepButtons(answer.code, 'access-code'),
  ])
}

async function removeTwoFactor({ account, path, act, refresh }) {
  // Another page may have asked for it meanwhile.
  const { account: present } = await call('GET', path)
  if (present.removal_at !== undefined) {
    announce(say('removal_waits_already', { time: exactTime(present.removal_at) }))
    return refresh()
  }
  const title = say('remove_two_factor_of', { name: nameOf(account) })
  const when = session.administrator.role === 'support' ? 'removed_tomorrow' : 'removed_at_once'
  const why = [element('p', {}, say('remove_two_factor_why')), element('p', {}, element('b', {}, say(when)))]
  const done = ({ due_at: due }) =>
    due ? say('removal_asked', { time: exactTime(due) }) : say('two_factor_removed')
  await act.ask(done, title, why, {
    label: say('remove'),
    danger: true,
    submit: () => call('DELETE', `${path}/two-factor`),
  })
}

function data({ account, path, act }) {
  const edit = () =>
    act.ask(
      say('changes_saved'),
      say('application_data'),
      [
        field('role_id', say('role'), { value: account.role }),
        field('username', say('username'), {
          autocomplete: 'off',
          value: account.username ?? '',
          hint: say('username_hint'),
        }),
        field('groups', say('groups'), { value: account.groups.join(', '), hint: say('groups_hint') }),
        field('name', say('profile_name'), { value: account.profile.name ?? '' }),
        field('accountable_type', say('accountable_type'), { value: account.accountable_type }),
        field('accountable_id', say('accountable_id'), {
          value: String(account.accountable_id),
          inputmode: 'numeric',
        }),
        field('metadata', say('metadata'), {
          tagName: 'textarea',
          value: JSON.stringify(account.metadata, null, 2),
          hint: say('metadata_hint'),
        }),
      ],
      {
        label: say('save'),
        submit: ({
          role_id,
          username = '',
          groups = '',
          name = '',
          accountable_type,
          accountable_id,
          metadata = '{}',
        }) =>
          call('PATCH', path, {
            ...(role_id && { role_id: readRole(role_id) }),
            ...(username !== (account.username ?? '') && { username: username || null }),
            groups: groups.split(/[\s,]+/).filter(Boolean),
            ...(name !== (account.profile.name ?? '') && { profile: { name: name || null } }),
            accountable_type,
            accountable_id: Number(accountable_id),
            metadata: readJson(metadata),
          }),
      },
    )
  return fold(say('application_data'), [
    facts([
      [
        say('role'),
        account.role === String(account.role_id) ? account.role : `${account.role} (${account.role_id})`,
      ],
      [say('username'), account.username ?? '—'],
      [say('groups'), account.groups.join(', ') || '—'],
      [say('profile'), Object.values(account.profile).join(' · ') || '—'],
      [say('accountable'), `${account.accountable_type} ${account.accountable_id}`],
      [say('metadata'), element('code', {}, JSON.stringify(account.metadata))],
    ]),
    mayEverything('accounts:write') &&
      element('div', { class: 'acts end' }, [
        button(say('change'), edit),
        button(say('end_tokens'), () =>
          act.ask(say('tokens_ended'), say('end_tokens'), element('p', {}, say('end_tokens_why')), {
            label: say('end_tokens'),
            submit: () => call('PATCH', path, { end_tokens: true }),
          }),
        ),
      ]),
  ])
}

function readJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw Object.assign(new Error(say('no_json')), {
      errors: [{ field: 'metadata', message: say('no_json') }],
    })
  }
}

function sessionList({ path, act }, items) {
  if (items.length === 0) return element('p', { class: 'soft' }, say('no_sessions'))
  const columns = [
    [
      say('device'),
      (one) =>
        [one.device_name, one.device_os, one.device_type].filter(Boolean).join(' · ') ||
        say('unknown_device'),
    ],
    [say('address'), ({ ip }) => ip ?? ''],
    [say('signed_in'), ({ created_at: at }) => time(at)],
    [say('last_used'), ({ last_used_at: at }) => time(at)],
    [
      '',
      ({ id }) =>
        may('sessions:write')
          ? button(say('end'), () => askToEnd(act, 'session_ended', say('end_one'), `${path}/sessions/${id}`))
          : '',
    ],
  ]
  const endAll = button(say('end_all'), () =>
    askToEnd(act, 'sessions_ended', say('end_all'), `${path}/sessions`),
  )
  return [table(columns, items), may('sessions:write') && element('div', { class: 'acts end' }, endAll)]
}

const askToEnd = (act, done, title, path) =>
  act.ask(say(done), title, element('p', {}, say('end_why')), {
    label: say('end'),
    danger: true,
    submit: () => call('DELETE', path),
  })

const removable = ({ path, act }, kind, id, label) =>
  mayEverything('accounts:recover')
    ? button(say('remove'), () =>
        act.ask(
          say('removed_done', { name: label }),
          say('remove_named', { name: label }),
          element('p', {}, say('remove_why')),
          {
            label: say('remove'),
            danger: true,
            submit: () => call('DELETE', `${path}/${kind}/${id}`),
          },
        ),
      )
    : ''

const passkeyList = (context, items) =>
  table(
    [
      [say('name'), ({ name }) => name],
      [say('created'), ({ created_at: at }) => time(at)],
      [say('last_used'), ({ last_used_at: at }) => time(at)],
      ['', ({ id, name }) => removable(context, 'passkeys', id, name)],
    ],
    items,
  )

const identityList = (context, items) =>
  table(
    [
      [say('provider'), ({ provider }) => provider],
      [say('email'), ({ email }) => email ?? ''],
      [say('created'), ({ created_at: at }) => time(at)],
      ['', ({ id, provider }) => removable(context, 'identities', id, provider)],
    ],
    items,
  )

function danger({ account, path }) {
  const canExport = may('accounts:export')
  const canErase = may('accounts:erase')
  if (!canExport && !canErase) return null
  return fold(say('person_rights'), [
    element('div', { class: 'acts' }, [
      canExport && button(say('export'), () => exportAll({ account, path })),
      canErase && button(say('erase'), () => erase({ account, path }), 'danger'),
    ]),
  ])
}

async function exportAll({ account, path }) {
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

async function erase({ account, path }) {
  const name = nameOf(account)
  const done = await dialog(
    say('erase'),
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
  if (!done) return
  announceAt('#/accounts', say('erased'))
}
