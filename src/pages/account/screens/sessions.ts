/** Where somebody is signed in, and what happened to the account. */
import type { EventRecord } from '../../../domain/foundation/events/event-schema.ts'
import type { Security } from '../../../domain/self-service/me/me-schema.ts'
import type { SessionRecord } from '../../../domain/sessions/core/service.ts'
import type { IconName } from '../../../platform/look/icons.ts'
import { badge, group, icon, isolated, row, rows, submit } from '../../frame/elements.ts'
import { type Html, html } from '../../frame/html.ts'
import type { Screen } from '../../visits/visit.ts'
import {
  type AccountOffered,
  ago,
  clockTime,
  day,
  deviceName,
  linkButton,
  onTheWay,
  page,
  time,
} from '../elements.ts'
import type { OwnVisit } from '../service.ts'

/** Draws the actions on a session: the present one ends by signing out. */
function sessionForm({ texts: { pages }, to }: OwnVisit, session: SessionRecord): Html | null {
  const { id, current, trusted_device: isTrusted } = session
  const button = (path: string, label: string) =>
    html`<button class="button quiet little" formaction="${to(path)}" name="session" value="${id}">${label}</button>`
  if (current && !isTrusted) return null
  return html`<form method="post" action="${to('/account/sessions/end')}">${isTrusted && button('/account/sessions/forget', pages.forget_device)}${!current && button('/account/sessions/end', pages.end)}</form>`
}

const deviceIcon = (name: string | null): IconName =>
  /Android|iPhone|iPad|iOS/.test(name ?? '') ? 'phone' : 'laptop'

/** Trusted devices stand by themselves, since one may have no session any more. */
function trustedList(visit: OwnVisit, { trustedDevices }: Security): Html | null {
  const { pages } = visit.texts
  if (trustedDevices.length === 0) return null
  return html`${group(pages.trusted_devices)}<p class="soft small">${pages.trusted_devices_lead}</p>${rows(
    trustedDevices.map(({ id, name, createdAt, lastUsedAt }) =>
      row(
        {
          icon: deviceIcon(name),
          label: deviceName(visit, name) ?? pages.unknown_device,
          detail: html`${pages.trusted_since} ${time(visit, createdAt)}${lastUsedAt && html` · ${pages.trusted_used} ${ago(visit, lastUsedAt)}`}`,
        },
        html`<form method="post" action="${visit.to('/account/sessions/forget')}"><button class="button quiet little" name="device" value="${id}">${pages.forget_device}</button></form>`,
      ),
    ),
  )}`
}

export function sessionsScreen(
  visit: OwnVisit,
  list: readonly SessionRecord[],
  security: Security,
  { untold }: Pick<AccountOffered, 'untold'>,
): Screen {
  const { pages } = visit.texts
  const nameOfDevice = ({ device_name, device_os }: SessionRecord) =>
    deviceName(visit, device_name) ?? device_os ?? pages.unknown_device
  return page(
    visit,
    pages.sessions,
    html`${rows(
      list.map((session) =>
        row(
          {
            icon: deviceIcon(`${session.device_name} ${session.device_os}`),
            label: nameOfDevice(session),
            detail: html`${isolated(session.ip ?? '')} · ${ago(visit, session.last_used_at)}${session.trusted_device && html` · ${pages.trusted_device}`}${untold.includes(session.application ?? '') && html`<br>${pages.may_keep_signed_in}`}`,
            badge: session.current ? badge(pages.this_one, 'good') : null,
          },
          sessionForm(visit, session),
        ),
      ),
    )}${trustedList(visit, security)}
${list.length > 1 && html`<form method="post" action="${visit.to('/account/sessions/end-all')}">${submit(pages.end_all, 'quiet danger')}<p class="hint">${pages.end_all_lead}</p></form>`}`,
    undefined,
    // Where there is no other, nothing is to be ended.
    list.length + security.trustedDevices.length > 1 ? pages.sessions_lead : null,
  )
}

/** Somebody tried, and did not come in. */
const alarming = new Set(['login.failed', 'login.locked_out', 'two_factor.failed', 'account.locked'])

/** By the event, or the part of its name before the dot. */
const eventIcons: Record<string, IconName> = {
  login: 'enter',
  session: 'leave',
  two_factor: 'shield',
  recovery_code: 'key',
  recovery_codes: 'key',
  passkey: 'passkey',
  password: 'lock',
  identifier: 'mail',
  identity: 'link',
  undo: 'back',
  trusted_device: 'laptop',
  account: 'person',
  'account.exported': 'download',
}

/**
 * Tells whether the owner may not know it: somebody did not come in, or did so from a device that nothing `before` it came from,
 * as far as the page goes back.
 */
function isStrange({ type, device }: EventRecord, before: readonly EventRecord[]): boolean {
  if (alarming.has(type)) return true
  const known = before.flatMap((event) => (event.outcome === 'success' && event.device) || [])
  return device !== null && known.length > 0 && !known.includes(device)
}

/** The events that owners know a sentence for; the others are for programs. */
export function historyScreen(visit: OwnVisit, events: readonly EventRecord[], next: string | null): Screen {
  const { pages } = visit.texts
  const sentence = (type: string) =>
    pages[`event_${type.replaceAll('.', '_')}` as keyof typeof pages] as string | undefined
  const days = new Map<string, Html[]>()
  const wasNotYou = html`<a href="${onTheWay(visit, '/account/sessions')}">${pages.was_not_you}</a>`
  let asks = false
  const told = events.flatMap((event) => {
    const what = sentence(event.type)
    return what === undefined ? [] : [{ ...event, what }]
  })
  for (const [at, event] of told.entries()) {
    const date = day(visit, new Date(event.created_at))
    const where = [deviceName(visit, event.device), event.address && isolated(event.address)].flatMap(
      (part) => (part ? [part, ' · '] : []),
    )
    const known = eventIcons[event.type] ?? eventIcons[event.type.split('.')[0]!] ?? 'check'
    const asked = isStrange(event, told.slice(at + 1))
    asks ||= asked
    const shown = row({
      icon: alarming.has(event.type) ? icon('alert', 'bad') : icon(known),
      label: event.what,
      detail: html`${where}${clockTime(visit, event.created_at)}${asked && html`<br>${wasNotYou}`}`,
    })
    days.set(date, [...(days.get(date) ?? []), shown])
  }
  const list = [...days].map(([date, shown]) => html`${group(date)}${rows(shown)}`)
  return page(
    visit,
    pages.history,
    html`${list.length > 0 ? list : html`<div class="card empty">${pages.nothing_yet}</div>`}
${list.length > 0 && !asks && html`<p class="next">${wasNotYou}</p>`}
${next !== null && linkButton(visit, pages.older, `/account/history?cursor=${encodeURIComponent(next)}`)}`,
    undefined,
    `${pages.history_lead} ${pages.times_in_utc}`,
  )
}
