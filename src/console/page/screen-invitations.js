/** Invitations, for people who are not known by name. */
import { call, may } from './api.js'
import { announce, copyable, dialog, showOnce } from './dialogs.js'
import { badge, button, element, emptyState, facts, say, titleRow, twoLines } from './elements.js'
import { field, listOf } from './forms.js'
import { pagedTable } from './pages.js'
import { givingFields, readRole } from './screen-accounts.js'
import { daysField } from './screen-prefixes.js'
import { number, time } from './times.js'

const DAY_SECONDS = 86_400

export async function invitationsScreen(_search, refresh) {
  const columns = [
    [
      say('note'),
      ({ note, role, groups, domain }) =>
        twoLines(note ?? say('invitation'), [role, ...groups, domain].filter(Boolean).join(' · ')),
      'first',
    ],
    [say('uses'), ({ used, uses }) => `${number(used)} / ${number(uses)}`, 'named'],
    [say('by'), ({ created_by: { name, type } }) => name ?? say(`actor_${type}`), 'soft less'],
    [
      say('expires'),
      ({ expires_at: at, revoked_at: revoked }) => (revoked ? badge(say('revoked')) : time(at)),
      'soft named',
    ],
  ]
  const mayWrite = may('invitations:write')
  if (mayWrite) {
    columns.push([
      '',
      (invitation) =>
        invitation.revoked_at ? '' : button(say('revoke'), () => revoke(invitation, refresh), 'danger'),
      'acts',
    ])
  }
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

async function revoke({ id, note }, refresh) {
  const done = await dialog(
    say('revoke_invitation', { name: note ?? id }),
    element('p', {}, say('revoke_invitation_why')),
    { label: say('revoke'), danger: true, submit: () => call('DELETE', `invitations/${id}`) },
  )
  if (!done) return
  announce(say('revoked_done', { name: note ?? id }))
  refresh()
}
