/** The checks of stored data: it can be opened with the server secret, and it is cared for. */

import { decoyDigest } from '../../domain/foundation/decoys/decoys.ts'
import { familyOf, parseDigest } from '../../domain/foundation/hashing/digest.ts'
import { measureWrongPassword } from '../../domain/foundation/hashing/service.ts'
import { createDigestStore } from '../../domain/foundation/hashing/store.ts'
import { createSmsClosingStore } from '../../domain/messages/sms-funnel/closing-store.ts'
import { pickSigningKey, SEAL_LABEL } from '../../domain/sessions/tokens/key-rotation.ts'
import { DAMAGED_KEY } from '../../domain/sessions/tokens/key-service.ts'
import type { KeyStore } from '../../domain/sessions/tokens/key-store.ts'
import { findBackupObstacle } from '../../storage/backup/files.ts'
import { AFTER } from '../backups/after.ts'
import {
  allOf,
  type DatabaseContext,
  type Finding,
  failure,
  ok,
  type StoreContext,
  warning,
  worstOf,
} from './check.ts'
import { createDoctorStore, describeLockedOut } from './store.ts'

const DAY_MS = 86_400_000
/** A key signs for 90 days. */
const OLDEST_KEY_DAYS = 95
/** A day, and time to notice. */
const MOST_HOURS = 36

export async function checkSealedRows({ secrets }: StoreContext): Promise<Finding> {
  const { lostRows, previous } = await secrets.status()
  if (lostRows > 0)
    return failure(
      `${lostRows} sealed rows (authenticator apps, keys) open under no accepted secret: put the former secret into server.previous_secrets, or tell the owners of the apps to sign in with a recovery code and set them up again`,
    )
  const removable = previous.filter(
    ({ wasCurrent, removableAt }) => wasCurrent && removableAt !== null && removableAt <= new Date(),
  )
  return removable.length > 0
    ? ok(`all open; ${removable.length} former secrets are needed no more (\`poterne secret status\`)`)
    : ok('all open under the accepted secrets')
}

export async function checkSigningKey(context: StoreContext): Promise<Finding> {
  const { signingKeys, identityKeys } = context.stores
  const found = await checkKeysIn(signingKeys, context)
  // There are none until an application needs one.
  const isAlone = found.level !== 'ok' || (await identityKeys.list()).length === 0
  return isAlone ? found : checkKeysIn(identityKeys, context)
}

async function checkKeysIn(store: KeyStore, { secret, secrets, clock }: StoreContext): Promise<Finding> {
  const now = clock.now()
  const signing = pickSigningKey(await store.list(), now)
  if (!signing) return warning('there is none yet: the first start of the service makes it')
  try {
    secret.open(SEAL_LABEL, signing.sealedPrivateJwk)
  } catch {
    if ((await secrets.status()).openRows) return failure(DAMAGED_KEY)
    return failure(
      'the signing keys were sealed under another server secret: put that secret back, or run `poterne keys rotate --now`',
    )
  }
  // A clock that went back makes it younger than nothing.
  const days = Math.max(0, Math.floor((now.getTime() - signing.signsFrom.getTime()) / DAY_MS))
  return days > OLDEST_KEY_DAYS
    ? warning(`it is ${days} days old, and none took its place after 90: run \`poterne keys rotate\``)
    : ok(`it is ${days} days old`)
}

const NAMED_ACCOUNTS = 5

/** Checks the claims that tokens of the last day lacked, and the reasons why none was signed. */
export async function checkClaims({ config, stores, clock }: StoreContext): Promise<Finding> {
  if (config.tokens.claims.length === 0) return ok('tokens.claims adds no claim')
  const since = new Date(clock.now().getTime() - DAY_MS)
  const accountsWith = async (type: 'token.incomplete' | 'token.claim_omitted') => {
    const events = await stores.events.list({ types: [type], since }, null, 100)
    return [...new Set(events.map(({ account }) => account))].slice(0, NAMED_ACCOUNTS).join(', ')
  }
  const incomplete = await accountsWith('token.incomplete')
  if (incomplete !== '')
    return failure(
      `accounts without a claim that tokens.claims requires tried to sign in or to refresh, among them ${incomplete}: give them a username or the metadata, or take \`required\` away`,
    )
  const omitted = await accountsWith('token.claim_omitted')
  return omitted === ''
    ? ok(`all ${config.tokens.claims.length} claims were in the tokens of the last day`)
    : warning(
        `claims did not fit into tokens of ${omitted}: all together are at most 2,048 bytes; give these accounts fewer groups or shorter metadata`,
      )
}

/** The clocks of two machines may differ by so much. */
const TOLERATED_MS = 60_000

const remedies = {
  'signing key': 'run `poterne keys rotate`',
  token: 'revoke it and make another',
  administrator: 'look in the events for who added it',
}

/** Without this, what was made under a clock that ran ahead would live on for as long as the clock was wrong. */
export async function checkMadeLater({ database, clock }: StoreContext): Promise<Finding> {
  const soon = new Date(clock.now().getTime() + TOLERATED_MS)
  const found = await createDoctorStore(database).madeLater(soon)
  if (found.length === 0) return ok('no key, token or administrator was made in the future')
  const named = found.map(
    ({ kind, name, madeAt }) => `${kind} ${name} (${madeAt.toISOString()}): ${remedies[kind]}`,
  )
  return warning(`the clock was wrong when these were made: ${named.join('; ')}`)
}

/** A wrong password costs the sum for everybody; with more than this, a flood of them costs a machine too much. */
const SLOW_WRONG_MS = 250

export async function checkForeignPasswords({ config, database }: DatabaseContext): Promise<Finding> {
  const today = familyOf(config.password)
  const found = (await createDigestStore(database).countFamilies()).filter(({ family }) => family !== today)
  if (found.length === 0) return ok('all stored passwords are hashed as new ones are')
  const ms = await measureWrongPassword(config.password, found)
  const memory = Math.max(...found.map(({ family, number }) => memoryOf(family, number)))
  const named = found.map(
    ({ family, number, count }) => `${family}${number > 0 ? ` (${number})` : ''}: ${count}`,
  )
  const said = `a wrong password takes ${ms} ms of a processor, whoever it is for, and up to ${Math.ceil(memory / 1024)} MB, because of the accounts with ${named.join('; ')}`
  return ms > SLOW_WRONG_MS
    ? warning(
        `${said}. They get today's hash when they sign in; \`poterne accounts forget-hashes\` takes those of people who do not come`,
      )
    : ok(said)
}

/** In KiB; 0 for what is never verified. */
const memoryOf = (family: string, number: number) => parseDigest(decoyDigest(family, number))?.memoryKib ?? 0

export async function checkWaysIn({ config, database }: DatabaseContext): Promise<Finding> {
  const lockedOut = await describeLockedOut(config, database)
  return lockedOut === null ? ok('nobody depends on a way to sign in that is turned off') : warning(lockedOut)
}

/** An entry that works is a warning, so that nobody forgets it. */
export async function checkTestIdentities({ testIdentities }: StoreContext): Promise<Finding> {
  const entries = await testIdentities.list()
  return allOf(
    entries.map(({ identifier, until, problem }) =>
      problem === null
        ? warning(`${identifier} signs in by its code until ${until}`)
        : failure(`${identifier} is ignored, ${problem}: take it out of test_identities`),
    ),
    ok('there are none'),
  )
}

const HOUR_MS = 3_600_000
const MOST_BEHIND_SECONDS = 300

export async function checkWebhooks({ webhooks, clock }: StoreContext): Promise<Finding> {
  const found = await webhooks.list()
  const findings = found.flatMap(({ name, awaySince, lagSeconds, givenUp }): Finding[] => {
    const awayMs = awaySince === null ? 0 : clock.now().getTime() - awaySince.getTime()
    const away = `${name} has taken nothing since ${awaySince?.toISOString()}: \`poterne webhooks try ${name}\` says why`
    if (awayMs >= HOUR_MS) return [failure(away)]
    if (awaySince !== null) return [warning(away)]
    if (lagSeconds > MOST_BEHIND_SECONDS)
      return [warning(`${name} is ${lagSeconds} s behind: it answers too slowly, or no service runs`)]
    if (givenUp > 0)
      return [
        warning(
          `${name} refused ${givenUp} event${givenUp === 1 ? '' : 's'} for good: \`poterne webhooks waiting ${name}\` lists them, and \`retry\` sends them again`,
        ),
      ]
    return []
  })
  return worstOf(
    findings,
    ok(found.length === 0 ? 'there are none' : `all ${found.length} were told what happened`),
  )
}

const ENDS_SOON_DAYS = 14
const MOST_TOKENS = 1000

/** A service that follows ended tokens goes on without a word when its token has ended, and refuses nobody any more. */
export async function checkWatchingTokens({ stores, clock }: StoreContext): Promise<Finding> {
  const now = clock.now().getTime()
  const tokens = await stores.administrationTokens.list(null, MOST_TOKENS)
  const watching = tokens.filter(
    ({ scopes, expiresAt }) => scopes.includes('sessions:watch') && expiresAt.getTime() > now,
  )
  const findings = watching
    .filter(({ expiresAt }) => expiresAt.getTime() - now < ENDS_SOON_DAYS * DAY_MS)
    .map(({ name, expiresAt }) =>
      warning(
        `the token ${name} ends at ${expiresAt.toISOString()}: make another with the scope sessions:watch, and give it to the service that follows ended sessions`,
      ),
    )
  return worstOf(findings, ok(`${watching.length} follow ended sessions, and none ends within two weeks`))
}

/** What the guard closed may be an attack that goes on, or a gateway that delivers nothing there. */
export async function checkSmsPrefixes({ config, database, clock }: DatabaseContext): Promise<Finding> {
  const closings = await createSmsClosingStore(database).list(clock.now())
  const inForce = closings.filter(({ reason }) => reason !== null || config.sms.pumpingGuard)
  const findings = inForce.map(({ prefix, reason, closedUntil }) => {
    const until = closedUntil.toISOString()
    return reason === null
      ? warning(
          `the guard closed ${prefix} until ${until}, since hardly any code was entered there: \`poterne sms report\` shows whether the gateway delivers, and \`poterne sms prefixes open ${prefix}\` opens it`,
        )
      : ok(`${prefix} is closed by hand until ${until}`)
  })
  return worstOf(findings, ok('no prefix of numbers is closed'))
}

/** A backup that cannot be sealed with a key of its own is none, since the generated secret is lost with the machine. */
export async function checkBackup({ config, stores, clock }: StoreContext): Promise<Finding> {
  const { at, passphraseFile } = config.backup
  if (config.server.secret === null && passphraseFile === null)
    return failure(
      'none can be made: the server secret is the file that poterne made, which is lost together with the machine; set backup.passphrase_file (or server.secret) and backup.at',
    )
  const obstacle = findBackupObstacle(config)
  if (obstacle !== null) return failure(`${obstacle.key}: ${obstacle.message}`)
  const { lastSuccessAt, lastFailureAt, lastFailure, lastWarning } = await stores.backups.getState()
  if (lastFailureAt !== null && (lastSuccessAt === null || lastFailureAt > lastSuccessAt))
    return failure(
      lastFailure?.startsWith(AFTER)
        ? `the last one lies in ${config.backup.directory} only (${lastFailure}): mend that command`
        : `the last one failed (${lastFailure}): run \`poterne backup\` and mend what it says`,
    )
  const none = 'set backup.at, or run `poterne backup` from your own schedule'
  if (lastSuccessAt === null)
    return at === null
      ? warning(`none was ever made: ${none}, unless you back the database up in another way`)
      : warning(`none was made yet: the first one is due at ${at}`)
  const hours = Math.floor((clock.now().getTime() - lastSuccessAt.getTime()) / 3_600_000)
  if (hours <= MOST_HOURS)
    return lastWarning === null
      ? ok(`the last one is ${hours} hours old`)
      : warning(`the last one is ${hours} hours old; ${lastWarning}`)
  return at === null
    ? warning(`the last one is ${hours} hours old: ${none}`)
    : failure(`the last one is ${hours} hours old, although backup.at is ${at}: look in the log for why`)
}
