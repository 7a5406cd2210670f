/** Searching accounts, and making one. */
import { call, may } from './api.js'
import { announce, button, choice, dialog, element, field, say, tag, time } from './elements.js'
import { filters, pagedTable } from './pages.js'

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

export async function accountsScreen(search) {
  const list = await pagedTable('accounts', search, [
    [say('account'), (account) => element('a', { href: `#/accounts/${account.uuid}` }, nameOf(account))],
    [say('state'), stateOf],
    [say('role'), ({ role }) => role],
    [say('created'), ({ created_at: at }) => time(at)],
    [say('last_sign_in'), ({ current_sign_in_at: at }) => time(at)],
  ])
  return [
    element('div', { class: 'row between' }, [
      element('h1', {}, say('accounts')),
      may('accounts:write') && may('accounts:erase') && button(say('new_account'), createAccount),
    ]),
    filters('accounts', [
      field('query', say('search_accounts'), {
        type: 'search',
        value: search.query ?? '',
        hint: say('search_accounts_hint'),
      }),
      field('locked', say('locked'), { options: yesOrNo(), value: search.locked }),
      field('confirmed', say('confirmed'), { options: yesOrNo(), value: search.confirmed }),
    ]),
    element('div', { class: 'card' }, list),
  ]
}

async function createAccount() {
  const account = await dialog(
    say('new_account'),
    [
      field('email', say('email'), { type: 'email', autocomplete: 'off' }),
      field('phone', say('phone'), { type: 'tel', autocomplete: 'off', hint: say('phone_hint') }),
      field('role_id', say('role')),
      choice('verified', say('contacts_are_verified')),
      choice('invite', say('send_invitation'), { checked: true }),
    ],
    {
      label: say('create'),
      async submit({ role_id: role, verified, invite, ...contacts }) {
        const body = {
          ...contacts,
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
