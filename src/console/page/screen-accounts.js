/** Searching accounts, and making one. */
import { call, may } from './api.js'
import { announce, button, choice, dialog, element, field, say, tag, time } from './elements.js'
import { filteredList } from './pages.js'

export const nameOf = ({ email, phone, uuid }) => email ?? phone ?? uuid

export const stateOf = ({ locked_at: lockedAt, account_confirmed: isConfirmed }) =>
  lockedAt !== null
    ? tag(say('locked'), 'wrong')
    : isConfirmed
      ? tag(say('confirmed'), 'good')
      : tag(say('unconfirmed'))

/** A role is named by its number, or by its name. */
export const readRole = (typed) => (/^\d+$/.test(typed) ? Number(typed) : typed)

const yesOrNo = () => [
  ['', say('any')],
  ['true', say('yes')],
  ['false', say('no')],
]

const nameCell = (account) =>
  element('div', { class: 'cut' }, [
    element('a', { href: `#/accounts/${account.uuid}`, title: nameOf(account) }, nameOf(account)),
    element(
      'span',
      { class: 'soft' },
      [account.profile.name, account.username, account.email && account.phone].filter(Boolean).join(' · '),
    ),
  ])

export function accountsScreen(search) {
  const columns = () => [
    [say('account'), nameCell],
    [say('state'), stateOf],
    [say('role'), ({ role }) => role],
    [say('created'), ({ created_at: at }) => time(at)],
    [say('last_sign_in'), ({ current_sign_in_at: at }) => time(at)],
  ]
  const fields = [
    field('query', say('search_accounts'), {
      type: 'search',
      value: search.query ?? '',
      placeholder: say('search_accounts_hint'),
      autocomplete: 'off',
    }),
    field('locked', say('locked'), { options: yesOrNo(), value: search.locked }),
    field('confirmed', say('confirmed'), { options: yesOrNo(), value: search.confirmed }),
  ]
  return [
    element('div', { class: 'row between' }, [
      element('h1', {}, say('accounts')),
      may('accounts:write') && may('accounts:erase') && button(say('new_account'), createAccount),
    ]),
    ...filteredList('accounts', fields, columns, { empty: say('no_accounts') }),
  ]
}

async function createAccount() {
  const account = await dialog(
    say('new_account'),
    [
      field('email', say('email'), { type: 'email', autocomplete: 'off' }),
      field('phone', say('phone'), { type: 'tel', autocomplete: 'off', hint: say('phone_hint') }),
      field('role_id', say('role')),
      field('username', say('username'), { autocomplete: 'off', hint: say('username_hint') }),
      field('groups', say('groups'), { hint: say('groups_hint') }),
      choice('verified', say('contacts_are_verified')),
      choice('invite', say('send_invitation'), { checked: true }),
    ],
    {
      label: say('create'),
      async submit({ role_id: role, groups = '', verified, invite, ...named }) {
        const body = {
          ...named,
          groups: groups.split(/[\s,]+/).filter(Boolean),
          ...(role !== undefined && { role_id: readRole(role) }),
          verified: verified === 'true',
          invite: invite === 'true',
        }
        return (await call('POST', 'accounts', body)).account
      },
    },
  )
  if (!account) return
  announce(say('account_created'))
  location.hash = `#/accounts/${account.uuid}`
}
