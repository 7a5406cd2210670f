/** Invitations, for people who are not known by name. */
import { call, may } from './api.js'
import { announce, button, dialog, element, field, say, showOnce, time } from './elements.js'
import { pagedTable } from './pages.js'

const DAY_SECONDS = 86_400

export async function invitationsScreen(_search, refresh) {
  const columns = [
    [say('note'), ({ note }) => note],
    [say('uses'), ({ used, uses }) => `${used} / ${uses}`],
    [say('role'), ({ role }) => role],
    [say('groups'), ({ groups }) => groups.join(', ')],
    [say('domain'), ({ domain }) => domain],
    [say('expires'), ({ expires_at: at, revoked_at: revoked }) => (revoked ? say('revoked') : time(at))],
  ]
  if (may('invitations:write')) {
    columns.push([
      '',
      (invitation) =>
        invitation.revoked_at ? '' : button(say('revoke'), () => revoke(invitation, refresh), 'small danger'),
    ])
  }
  return [
    element('div', { class: 'row between' }, [
      element('h1', {}, say('invitations')),
      ...(may('invitations:write') ? [button(say('new_invitation'), () => create(refresh))] : []),
    ]),
    element('div', { class: 'card' }, await pagedTable('invitations', {}, columns)),
  ]
}

async function create(refresh) {
  const made = await dialog(
    say('new_invitation'),
    [
      field('uses', say('uses'), { value: '1', required: true }),
      field('days', say('days'), { value: '7', required: true }),
      field('role_id', say('role'), { hint: say('invitation_role_hint') }),
      field('groups', say('groups'), { hint: say('invitation_groups_hint') }),
      field('domain', say('domain'), { hint: say('invitation_domain_hint') }),
      field('note', say('note')),
    ],
    {
      label: say('create'),
      submit: ({ uses, days, role_id, groups, domain, note }) =>
        call('POST', 'invitations', {
          uses: Number(uses),
          expires_in: Number(days) * DAY_SECONDS,
          ...(role_id && { role_id: /^\d+$/.test(role_id) ? Number(role_id) : role_id }),
          ...(groups && { groups: groups.split(/[\s,]+/).filter(Boolean) }),
          ...(domain && { domain }),
          ...(note && { note }),
        }),
    },
  )
  if (!made) return
  showOnce(say('invitation_made'), [
    element('p', {}, say('shown_once')),
    element('p', {}, element('code', {}, made.code)),
    ...(made.link ? [element('p', {}, element('code', {}, made.link))] : []),
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
