/** Searching accounts, and making one. */
import { call, isOwner, may } from './api.js'
import { announceAt, dialog } from './dialogs.js'
import { avatar, badge, button, capital, element, rowLink, say, titleRow, twoLines } from './elements.js'
import { choice, field, listOf, searchField, tabs } from './forms.js'
import { filteredList } from './pages.js'
import { number, time } from './times.js'

export const nameOf = ({ email, phone, uuid }) => email ?? phone ?? uuid

/** The name that people gave themselves, else the contact. */
export const personOf = (account) => account.profile.name ?? nameOf(account)

/** Only what is unusual has a badge. */
export const stateOf = ({ locked_at: lockedAt, account_confirmed: isConfirmed, limited }) => {
  if (lockedAt !== null) return badge(say('locked'), 'bad')
  if (limited) return badge(say('limited'), 'warn')
  return isConfirmed ? '' : badge(say('unconfirmed'))
}

/** A role is named by its number, or by its name. */
export const readRole = (typed) => (/^\d+$/.test(typed) ? Number(typed) : typed)

/** The roles that have a name, and the groups in use: nothing where they cannot be read. */
export const suggestions = () => call('GET', 'groups').catch(() => ({ roles: [], groups: [] }))

/** The role and the groups of somebody new. */
export async function givingFields(roleHint, groupsHint) {
  const { roles, groups } = await suggestions()
  return [
    field('role_id', say('role'), { hint: roleHint, suggestions: roles.map(({ name }) => name) }),
    field('groups', say('groups'), { hint: groupsHint, suggestions: groups }),
  ]
}

function nameCell(account) {
  const { email, phone, profile, username, uuid } = account
  const name = personOf(account)
  const beside = [profile.name && nameOf(account), email && phone, username].filter(Boolean).join(' · ')
  // Where nothing is known beside an address, its domain has the second line.
  const [local, domain] = name.split(/(?=@)/)
  const shown = beside
    ? name
    : element('span', { class: 'wraps' }, [local, domain && element('bdi', {}, domain)])
  return rowLink(`#/accounts/${uuid}`, [avatar(name), twoLines(shown, beside)], nameOf(account))
}

const MOST_GROUPS = 2

const groupBadges = ({ groups }) =>
  groups.length === 0
    ? ''
    : element('span', { class: 'cut', title: groups.join(', ') }, [
        ...groups.slice(0, MOST_GROUPS).map((name) => badge(name)),
        groups.length > MOST_GROUPS && element('span', { class: 'soft' }, ` +${groups.length - MOST_GROUPS}`),
      ])

/** By what the person answers a second step. Recovery codes are said where nothing else is left. */
export function secondStepOf({ factors }) {
  const daily = factors.filter((factor) => factor !== 'recovery_code')
  const said = daily.length > 0 ? daily : factors
  return capital(said.map((factor) => say(`step_${factor}`)).join(', '))
}

/** The tabs above the list: their words, what they ask the interface for, and their number in the statistics. */
const states = {
  '': ['all', {}, ({ accounts }) => accounts.total],
  unconfirmed: [
    'unconfirmed_accounts',
    { confirmed: 'false' },
    ({ accounts }) => accounts.total - accounts.confirmed,
  ],
  locked: ['locked_accounts', { locked: 'true' }, ({ accounts }) => accounts.locked],
  limited: ['limited_accounts', { limited: 'true' }, ({ limited }) => limited],
  administrators: ['administrators', { administrator: 'true' }],
}

/** Nothing is counted for it: where there is a next page, the service has the number, or it is "50+". */
async function countOf({ items, next_cursor: next }, { query, state = '' }) {
  if (next === null) return number(items.length)
  const known = query === undefined && states[state][2]
  return known ? number(known(await call('GET', 'statistics'))) : `${number(items.length)}+`
}

export function accountsScreen(search) {
  const columns = () => [
    [say('person'), nameCell, 'first'],
    [say('state'), stateOf],
    [say('groups'), groupBadges, 'less badges'],
    [say('second_step'), (account) => secondStepOf(account) || '—', 'soft less'],
    [say('last_sign_in'), ({ current_sign_in_at: at }) => time(at) || say('never'), 'when'],
    [say('created'), ({ created_at: at }) => time(at), 'soft less'],
  ]
  const tabsOf = Object.entries(states)
    .filter(([state]) => state !== 'administrators' || isOwner())
    .map(([state, [label]]) => [state, say(label)])
  const fields = [
    searchField('query', say('search_accounts'), {
      value: search.query ?? '',
      placeholder: say('search_accounts_hint'),
    }),
    tabs('state', say('state'), tabsOf, search.state in states ? search.state : ''),
  ]
  const count = element('span', { class: 'count' })
  const mayCreate = may('accounts:write') && may('accounts:erase')
  return [
    titleRow(
      element('h1', {}, [say('accounts'), ' ', count]),
      mayCreate && button(say('new_account'), createAccount, 'main', 'plus'),
    ),
    ...filteredList('accounts', fields, columns, {
      empty: say('no_accounts'),
      ask: ({ state = '', ...values }) => ({ ...values, ...states[state][1] }),
      count: { place: count, of: countOf },
    }),
  ]
}

async function createAccount() {
  const account = await dialog(
    say('new_account'),
    [
      field('name', say('name'), { autocomplete: 'off' }),
      field('email', say('email'), { type: 'email', autocomplete: 'off' }),
      field('phone', say('phone'), { type: 'tel', autocomplete: 'off', hint: say('phone_hint') }),
      ...(await givingFields(say('invitation_role_hint'), say('groups_hint'))),
      field('username', say('username'), { autocomplete: 'off', hint: say('username_hint') }),
      choice('verified', say('contacts_are_verified')),
      choice('invite', say('send_invitation'), { checked: true }),
    ],
    {
      label: say('create'),
      async submit({ name, role_id: role, groups = '', verified, invite, ...named }) {
        const body = {
          ...named,
          ...(name && { profile: { name } }),
          groups: listOf(groups),
          ...(role !== undefined && { role_id: readRole(role) }),
          verified: verified === 'true',
          invite: invite === 'true',
        }
        return (await call('POST', 'accounts', body)).account
      },
    },
  )
  if (!account) return
  announceAt(`#/accounts/${account.uuid}`, say('account_created'))
}
