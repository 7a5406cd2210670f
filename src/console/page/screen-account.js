/** One account: what happened as a stream, the facts beside it, and what is done most beside the name. */
import { actions, actionsOf } from './account-actions.js'
import { deviceOf, factsOf, isKnownDevice } from './account-facts.js'
import { streamOf } from './account-stream.js'
import { call, may } from './api.js'
import { avatar, breakable, button, element, notice, say, wayUp } from './elements.js'
import { IN_TITLE } from './line-breaks.js'
import { nameOf, personOf, stateOf } from './screen-accounts.js'
import { nameOfActor } from './screen-events.js'
import { dayAndHour, exactTime, momentOf, time } from './times.js'

export async function accountScreen(uuid, refresh) {
  const path = `accounts/${uuid}`
  const list = async (name) => (await call('GET', `${path}/${name}?limit=200`)).items
  const [{ account }, sessions, passkeys, identities] = await Promise.all([
    call('GET', path),
    list('sessions'),
    list('passkeys'),
    list('identities'),
  ])
  const [stream, lockedBy] = await Promise.all([
    streamOf(account, path, contactsOf(account), refresh),
    lockerOf(account, path),
  ])
  const context = { account, path, refresh, act: actions(refresh) }
  const { buttons, reasons } = actionsOf(context)
  return [
    wayUp('#/accounts', say('accounts')),
    element('div', { class: 'above' }, [
      element('div', { class: 'title who' }, [
        avatar(personOf(account), 'big'),
        element('div', { class: 'text' }, [
          element('div', { class: 'acts' }, [
            element('h1', {}, breakable(personOf(account), IN_TITLE)),
            stateOf(account),
          ]),
          element('p', { class: 'soft' }, shortOf(account, sessions)),
        ]),
      ]),
      element('div', { class: 'acts' }, buttons),
      ...reasons.map((reason) => element('p', { class: 'soft reason' }, reason)),
      ...refusals(context),
      locked(context, lockedBy),
      waitingRemoval(context),
      ...undoableChanges(context),
    ]),
    element('div', { class: 'split' }, [
      stream,
      element('div', {}, factsOf(context, { sessions, passkeys, identities })),
    ]),
  ]
}

/** Who locked the account, as far as that is still known. */
async function lockerOf({ locked_at: lockedAt }, path) {
  if (lockedAt === null || !may('events:read')) return ''
  const { items } = await call('GET', `${path}/events?type=account.locked&limit=1`)
  return items.length > 0 ? nameOfActor(items[0].actor) : ''
}

/** The contact beside a name, when it began, and when and where the person was last. */
function shortOf(account, [last]) {
  const { profile, created_at: created, current_sign_in_at: signedIn } = account
  const parts = [
    profile.name ? breakable(nameOf(account)) : say('no_name'),
    [say('registered'), ' ', time(created)],
    signedIn === null ? say('never_signed_in') : [say('last_sign_in_was'), ' ', time(signedIn)],
    last && isKnownDevice(last) && deviceOf(last),
  ].filter(Boolean)
  // No line begins with the dot.
  return parts.flatMap((part, i) => (i === 0 ? part : ['\u00a0· ', part].flat()))
}

/** What is refused, until when and why: each thing once, by what lasts longest. */
function refusals({ account, path, act }) {
  const shown = account.limits.filter(
    ({ limit }, i) => account.limits.findIndex((other) => other.limit === limit) === i,
  )
  return shown.map(({ limit, until, cause, address }, i) =>
    notice(
      'warn',
      [
        element('b', {}, say(`refused_${limit}`, { time: momentOf(until) })),
        ' ',
        say(`refused_by_${cause}`, { address: address ?? say('somewhere') }),
      ],
      i === 0 &&
        may('limits:write') &&
        button(say('lift_limit'), () =>
          act.now(
            say('limits_lifted', { identifier: nameOf(account) }),
            'DELETE',
            `limits/${path.split('/')[1]}`,
          ),
        ),
    ),
  )
}

const locked = ({ account, path, act }, lockedBy) =>
  account.locked_at !== null &&
  notice(
    'bad',
    [
      element('b', {}, say('is_locked')),
      account.locked_reason && ` ${say('locked_because', { reason: account.locked_reason })}`,
      element('div', { class: 'soft' }, [dayAndHour(account.locked_at), lockedBy && ` · ${lockedBy}`]),
    ],
    may('accounts:write') &&
      button(
        say('unlock'),
        () =>
          act.now(say('account_unlocked_done', { name: nameOf(account) }), 'PATCH', path, { locked: false }),
        '',
        'unlock',
      ),
  )

/** A removal of two factors that waits, and the way to stop it. */
const waitingRemoval = ({ account, path, act }) =>
  account.removal_at !== undefined &&
  notice(
    'warn',
    say('removal_waits', { time: exactTime(account.removal_at) }),
    may('accounts:recover') &&
      button(say('cancel_removal'), () =>
        act.now(say('removal_cancelled'), 'DELETE', `${path}/two-factor/removal`),
      ),
  )

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
      notice(
        '',
        [say(`former_${contact}`, { former }), ' ', time(at), '.'],
        may('accounts:recover') &&
          button(say('put_back'), () =>
            act.ask(
              say('contact_put_back', { former }),
              say('put_back_named', { former, name: nameOf(account) }),
              element('p', {}, say('put_back_why')),
              {
                label: say('put_back'),
                submit: () => call('DELETE', `${path}/contact-changes/${id}`),
              },
            ),
          ),
      ),
    )
