/** Invitations, for people who are not known by name. */
import { call, may } from './api.js'
import { announce, copyable, dialog, showOnce } from './dialogs.js'
import { badge, button, element, emptyState, facts, say, titleRow, twoLines } from './elements.js'
import { field, listOf } from './forms.js'
import { pagedTable } from './pages.js'
import { givingFields, readRole } from './screen-accounts.js'
import { nameOfActor } from './screen-events.js'
import { daysField } from './screen-prefixes.js'
import { dayAndHour, dayAndHourOf, number, time } from './times.js'

const DAY_SECONDS = 86_400

export async function invitationsScreen(_search, refresh) {
  const mayWrite = may('invitations:write')
  const columns = [
    [
      say('invitation'),
      (invitation) =>
        twoLines(invitation.note ?? element('span', { class: 'soft' }, say('no_note')), giving(invitation)),
      'first',
    ],
    [say('uses'), ({ used, uses }) => `${number(used)} / ${number(uses)}`, 'named'],
    [say('by'), ({ created_by: by }) => nameOfActor(by), 'soft less'],
    [say('made'), ({ created_at: at }) => dayAndHour(at), 'soft less'],
    [
      say('expires'),
      ({ expires_at: at, revoked_at: revokedAt }) => (revokedAt ? '' : time(at)),
      'soft named',
    ],
    [
      '',
      (invitation) =>
        invitation.revoked_at
          ? badge(say('revoked'))
          : mayWrite && button(say('revoke'), () => revoke(invitation, refresh), 'removes'),
      'acts',
    ],
  ]
  const make = (kind) => mayWrite && button(say('new_invitation'), () => create(refresh), kind, 'plus')
  const byMail = () => mayWrite && button(say('invite_by_mail'), () => inviteByMail(refresh), '', 'mail')
  const empty = emptyState(
    say('no_invitations'),
    element('div', { class: 'acts middle' }, [byMail(), make('')]),
  )
  return [
    titleRow(say('invitations'), [byMail(), make('main')]),
    element('div', { class: 'card list' }, await pagedTable('invitations', {}, columns, { empty })),
  ]
}

const restOf = ({ role, domain }) => [role, domain].filter(Boolean).join(' · ')

/** What the accounts that it opens get, and who may use it. */
function giving(invitation) {
  const parts = [...invitation.groups.map((name) => badge(name)), restOf(invitation)].filter(Boolean)
  return parts.length > 0 && parts.flatMap((part) => [part, ' '])
}

/** As the list names it. */
const nameOf = (invitation) =>
  invitation.note ?? [...invitation.groups, restOf(invitation)].filter(Boolean).join(' · ')

const invitationFields = () => givingFields(say('invitation_role_hint'), say('invitation_groups_hint'))

const expiresField = () => daysField('days', say('expires'), ['1', '7', '30', '90', '365'], '7')

const given = ({ days, role_id, groups, note }) => ({
  expires_in: Number(days) * DAY_SECONDS,
  ...(role_id && { role_id: readRole(role_id) }),
  ...(groups && { groups: listOf(groups) }),
  ...(note && { note }),
})

async function inviteByMail(refresh) {
  const made = await dialog(
    say('invite_by_mail'),
    [
      field('emails', say('emails'), { tagName: 'textarea', hint: say('emails_hint'), required: true }),
      ...(await invitationFields()),
      expiresField(),
      field('note', say('note')),
    ],
    {
      label: say('send_invitations'),
      submit: ({ emails, ...rest }) =>
        call('POST', 'invitations', { emails: listOf(emails), ...given(rest) }),
    },
  )
  if (!made) return
  const refused = made.items.filter((line) => line.refused !== null)
  const count = made.items.length - refused.length
  if (refused.length === 0) announce(say('invitations_sent', { count: number(count) }))
  else
    showOnce(say('invitations_sent', { count: number(count) }), [
      element('p', {}, say('not_invited')),
      facts(refused.map(({ email, refused: why }) => [email, say(`refused_${why}`)])),
    ])
  refresh()
}

async function create(refresh) {
  const made = await dialog(
    say('new_invitation'),
    [
      field('uses', say('uses'), { value: '1', required: true }),
      expiresField(),
      ...(await invitationFields()),
      field('domain', say('domain'), { hint: say('invitation_domain_hint') }),
      field('note', say('note')),
    ],
    {
      label: say('create'),
      submit: ({ uses, domain, ...rest }) =>
        call('POST', 'invitations', { uses: Number(uses), ...given(rest), ...(domain && { domain }) }),
    },
  )
  if (!made) return
  showOnce(say('invitation_made'), [
    element('p', {}, say('shown_once')),
    copyable(made.code),
    made.link && copyable(made.link),
  ])
  refresh()
}

async function revoke(invitation, refresh) {
  const name = nameOf(invitation)
  const done = await dialog(
    say('revoke_invitation', { name, time: dayAndHourOf(invitation.created_at) }),
    element('p', {}, say('revoke_invitation_why')),
    {
      label: say('revoke'),
      danger: true,
      submit: () => call('DELETE', `invitations/${invitation.id}`),
    },
  )
  if (!done) return
  announce(say('revoked_done', { name: name || say('invitation') }))
  refresh()
}
