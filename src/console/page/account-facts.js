/** What is known of an account, beside its stream: "Change" stands at each fact and opens its own small dialog. */

import {
  askToEnd,
  askToRemove,
  changeContact,
  erase,
  exportAll,
  mayChangeContacts,
  mayEverything,
  removeContact,
} from './account-actions.js'
import { call, may } from './api.js'
import { announce } from './dialogs.js'
import { badge, breakable, button, capital, details, deviceName, element, say } from './elements.js'
import { choice, field, listOf } from './forms.js'
import { IN_TITLE } from './line-breaks.js'
import { readRole, suggestions } from './screen-accounts.js'
import { number, time } from './times.js'

const languages = new Intl.DisplayNames(document.documentElement.lang, { type: 'language' })

/** `word`: "none" has the gender of what is not there. */
const none = (word = 'none') => element('span', { class: 'soft' }, say(word))

/** "Change", and for those who do not see beside what it stands, of what. */
const link = (label, of, act, kind = 'link') =>
  button([label, element('span', { class: 'hidden' }, ` ${of}`)], act, kind)

const actsOf = (acts) => acts.length > 0 && element('div', { class: 'does' }, acts)

/** `rows`: a word, what is known, and what can be done about it. */
const factCard = (title, rows, more) =>
  element('section', { class: 'card known' }, [
    element('h2', {}, title),
    element(
      'dl',
      {},
      rows
        .filter(Boolean)
        .map(([label, value, ...acts]) =>
          element('div', {}, [
            element('dt', {}, label),
            element('dd', {}, [element('div', {}, value), actsOf(acts.filter(Boolean))]),
          ]),
        ),
    ),
    more,
  ])

/** What is many is folded: its number is the sentence. */
const folded = (summary, items, word) =>
  items.length === 0 ? none(word) : details(summary, element('ul', { class: 'few' }, items))

const line = (above, below, act) =>
  element('li', {}, [element('div', {}, [element('b', {}, above), element('span', {}, below)]), act || null])

/** A fact that is changed in its own small dialog. */
const changeable = (context, name, label, value, word) => [
  label,
  value || none(word),
  mayEverything('accounts:write') &&
    link(say('change'), label, () => editors[name](context).catch((error) => announce(error.message))),
]

function contacts(context) {
  const { account } = context
  const row = (kind, value, verifiedAt) => {
    const mark =
      value !== null &&
      (verifiedAt === null ? badge(say('not_verified'), 'warn') : badge(say('verified'), 'good'))
    const label = say(`${kind}_short`)
    const mayWrite = mayChangeContacts(account)
    return [
      label,
      value === null ? none() : [element('span', { class: 'any' }, breakable(value, IN_TITLE)), ' ', mark],
      mayWrite &&
        link(say(value === null ? 'add' : 'change'), label, () => changeContact(context, kind, value)),
      // Without any contact there is nowhere to tell of anything.
      account.email !== null &&
        account.phone !== null &&
        account.removable_contacts.includes(kind) &&
        mayEverything('accounts:write') &&
        link(say('remove'), label, () => removeContact(context, kind, value), 'removes'),
    ]
  }
  return factCard(say('contacts'), [
    row('email', account.email, account.email_verified_at),
    row('phone', account.phone, account.phone_verified_at),
    changeable(context, 'name', say('name'), account.profile.name),
    [say('language'), capital(languages.of(account.language))],
  ])
}

/** Programs send what they like for a kind of device: only the kinds that the page has words for are said. */
const kinds = ['mobile', 'tablet', 'desktop']
export function deviceOf({ device_name: name, device_os: os, device_type: type }) {
  const kind = kinds.find((one) => one === type?.toLowerCase())
  const system = os && !name?.includes(os) ? os : null
  const said =
    name && system ? say('browser_on', { browser: name, system }) : (name && deviceName(name)) || system
  return said || (kind ? say(`device_${kind}`) : say('unknown_device'))
}

export const isKnownDevice = (session) => deviceOf(session) !== say('unknown_device')

function sessionLines({ path, act }, items) {
  const end = (id, device) =>
    may('sessions:write') &&
    button(
      [say('end'), element('span', { class: 'hidden' }, ` ${device}`)],
      () => askToEnd(act, 'session_ended', say('end_one'), `${path}/sessions/${id}`),
      'link',
    )
  return items.map((one) =>
    line(
      deviceOf(one),
      [one.ip, one.ip && ' · ', time(one.last_used_at)].filter(Boolean),
      end(one.id, deviceOf(one)),
    ),
  )
}

const removable = (context, kind, id, name) =>
  mayEverything('accounts:recover') &&
  link(say('remove'), name, () => askToRemove(context, kind, id, name), 'removes')

/** Fewer are soon used up. */
const ENOUGH_CODES = 3

/** By what a second step is answered, and how many recovery codes are left. */
function secondStep({ two_factor_enabled: isOn, factors, recovery_codes: count }) {
  if (!isOn) return badge(say('off'), 'warn')
  const daily = factors.filter((method) => method !== 'recovery_code')
  const means = capital(daily.map((method) => say(`method_${method}`)).join(', ')) || say('on')
  if (daily.length === factors.length) return means
  const left = say('recovery_codes_left', { count })
  return [means, ' · ', count < ENOUGH_CODES ? badge(left, 'warn') : left]
}

function signingIn(context, { sessions, passkeys, identities }) {
  const { account, path, act } = context
  return factCard(say('signing_in'), [
    [say('password'), account.has_password ? say('password_set') : none()],
    [say('second_step'), secondStep(account)],
    [
      say('passkeys'),
      folded(
        String(passkeys.length),
        passkeys.map(({ id, name, created_at: at }) =>
          line(name, time(at), removable(context, 'passkeys', id, name)),
        ),
        'none_feminine',
      ),
    ],
    identities.length > 0 && [
      say('identities'),
      folded(
        identities.map(({ provider }) => provider).join(', '),
        identities.map(({ id, provider, email, created_at: at }) =>
          line(provider, email ?? time(at), removable(context, 'identities', id, provider)),
        ),
      ),
    ],
    [
      say('devices'),
      folded(say('devices_signed_in', { count: sessions.length }), sessionLines(context, sessions)),
      sessions.length > 0 &&
        may('sessions:write') &&
        element(
          'button',
          {
            type: 'button',
            class: 'link',
            'aria-label': say('end_all'),
            onclick: () => askToEnd(act, 'sessions_ended', say('end_all'), `${path}/sessions`),
          },
          say('end_all_short'),
        ),
    ],
    [say('sign_ins'), number(account.sign_in_count)],
  ])
}

/** So many groups are shown as boxes to tick. */
const MOST_BOXES = 24

async function changeGroups({ account, path, act }) {
  const { groups: used } = await suggestions()
  const known = [...new Set([...account.groups, ...used])].sort().slice(0, MOST_BOXES)
  const boxes = known.map((name) =>
    choice('groups', name, { value: name, checked: account.groups.includes(name) }),
  )
  const rest = used.filter((name) => !known.includes(name))
  await act.ask(
    say('changes_saved'),
    say('groups'),
    [
      element('fieldset', {}, [element('legend', { class: 'hidden' }, say('groups')), ...boxes]),
      field('more', say('other_groups'), {
        hint: say('groups_hint'),
        autocomplete: 'off',
        suggestions: rest,
      }),
    ],
    {
      label: say('save'),
      submit: ({ more }, form) => {
        const ticked = new FormData(form).getAll('groups')
        return call('PATCH', path, { groups: [...new Set([...ticked, ...listOf(more)])] })
      },
    },
  )
}

/** One field, saved as what `patchOf` makes of it. */
const changeField = ({ path, act }, title, fields, patchOf) =>
  act.ask(say('changes_saved'), title, fields, {
    label: say('save'),
    submit: (values) => call('PATCH', path, patchOf(values)),
  })

function readJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw Object.assign(new Error(say('no_json')), {
      errors: [{ field: 'metadata', message: say('no_json') }],
    })
  }
}

const editors = {
  async role(context) {
    const { roles } = await suggestions()
    const settings = {
      value: context.account.role,
      autocomplete: 'off',
      hint: say('role_hint'),
      suggestions: roles.map(({ name }) => name),
    }
    await changeField(
      context,
      say('role'),
      field('role_id', say('role'), settings),
      ({ role_id: role = '' }) => ({
        role_id: readRole(role),
      }),
    )
  },
  groups: changeGroups,
  name: (context) =>
    changeField(
      context,
      say('profile_name'),
      field('name', say('profile_name'), { value: context.account.profile.name ?? '', autocomplete: 'off' }),
      ({ name = '' }) => ({ profile: { name: name || null } }),
    ),
  username: (context) =>
    changeField(
      context,
      say('username'),
      field('username', say('username'), {
        autocomplete: 'off',
        value: context.account.username ?? '',
        hint: say('username_hint'),
      }),
      ({ username = '' }) => ({ username: username || null }),
    ),
  accountable: (context) =>
    changeField(
      context,
      say('accountable'),
      [
        field('accountable_type', say('accountable_type'), { value: context.account.accountable_type }),
        field('accountable_id', say('accountable_id'), {
          value: String(context.account.accountable_id),
          inputmode: 'numeric',
        }),
      ],
      ({ accountable_type, accountable_id }) => ({
        accountable_type,
        accountable_id: Number(accountable_id),
      }),
    ),
  metadata: (context) =>
    changeField(
      context,
      say('metadata'),
      field('metadata', say('metadata_json'), {
        tagName: 'textarea',
        value: JSON.stringify(context.account.metadata, null, 2),
        hint: say('metadata_hint'),
      }),
      ({ metadata = '{}' }) => ({ metadata: readJson(metadata) }),
    ),
}

const endTokens = ({ path, act }) =>
  act.ask(say('tokens_ended'), say('end_tokens'), element('p', {}, say('end_tokens_why')), {
    label: say('end_tokens'),
    submit: () => call('PATCH', path, { end_tokens: true }),
  })

function forApplication(context) {
  const { account } = context
  const row = (...fact) => changeable(context, ...fact)
  const { role, role_id: id, groups, profile, metadata } = account
  const others = Object.entries(profile).filter(([key]) => key !== 'name')
  return factCard(say('application_data'), [
    row('role', say('role'), role === String(id) ? role : `${role} (${id})`),
    row('groups', say('groups'), groups.join(', ')),
    row('username', say('username'), account.username),
    others.length > 0 && [say('profile'), others.map(([, value]) => value).join(' · ')],
    row('accountable', say('accountable'), `${account.accountable_type} ${account.accountable_id}`),
    row(
      'metadata',
      say('metadata'),
      Object.keys(metadata).length > 0 && element('code', {}, JSON.stringify(metadata)),
      'none_feminine',
    ),
    mayEverything('accounts:write') && [
      say('access_tokens'),
      say('short_lived'),
      link(say('end_all_short'), say('access_tokens'), () => endTokens(context)),
    ],
  ])
}

const copyButton = (text, of) =>
  link(say('copy'), of, async () => {
    await navigator.clipboard.writeText(text).catch(() => {})
    announce(say('copied'))
  })

/** What machines know it by, last. */
const forMachines = ({ account }) =>
  factCard(say('technical'), [
    ['uuid', element('code', {}, account.uuid), copyButton(account.uuid, 'uuid')],
    ['id', String(account.id)],
    account.provider !== 'local' && [say('provider'), account.provider],
    account.last_lock_reason !== undefined && [say('last_lock_reason'), account.last_lock_reason],
  ])

function requests(context) {
  const canExport = may('accounts:export')
  const canErase = may('accounts:erase')
  if (!canExport && !canErase) return null
  return element('section', { class: 'card' }, [
    element('h2', {}, say('person_rights')),
    element('div', { class: 'acts' }, [
      canExport && button(say('export'), () => exportAll(context), '', 'download'),
      canErase && button(say('erase'), () => erase(context), 'danger', 'bin'),
    ]),
  ])
}

export const factsOf = (context, lists) =>
  [
    contacts(context),
    signingIn(context, lists),
    forApplication(context),
    forMachines(context),
    requests(context),
  ].filter(Boolean)
