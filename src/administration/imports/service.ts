/**
 * Brings accounts in from another system (docs/import.md): each line whole or not at all, and each call in one
 * transaction. What must be hashed is hashed before, behind every sign-in.
 */
import { randomUUID } from 'node:crypto'
import { APP } from '../../domain/credentials/secrets/sealed-tables.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import { parseDigest } from '../../domain/foundation/hashing/digest.ts'
import type { HashService } from '../../domain/foundation/hashing/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { currentRequest } from '../../platform/request-context.ts'
import { findTwice, type ImportedLine, keepNames, keysOf, LineRefused, type RefusalCode } from './line.ts'
import { createLineReader } from './read-line.ts'
import type { Found, ImportStore, MadeLine } from './store.ts'

export interface LineResult {
  outcome: 'imported' | 'present' | 'refused'
  uuid?: string
  code?: RefusalCode
  field?: string
  /** The index of the record that has the same name. */
  other?: number
  /** The kind of its password hash. */
  hash?: string
}

type Needs = Parameters<typeof createLineReader>[0] &
  Pick<Ground, 'secret'> & {
    hashing: Pick<HashService, 'wrap' | 'families' | 'refreshFamilies' | 'measureWrong'>
    stores: { imports: ImportStore; events: Pick<EventStore, 'addFailures'> }
  }

/** Each one costs every wrong password a hash. */
const MOST_FAMILIES = 32
const MOST_TRIES = 5
const FORGOTTEN_AT_ONCE = 500

export type ImportService = ReturnType<typeof createImportService>

export function createImportService(needs: Needs) {
  const { hashing, secret, clock, config, stores } = needs
  const reader = createLineReader(needs)

  const read = (record: Record<string, unknown>): ImportedLine | LineResult => {
    try {
      return reader.read(record)
    } catch (error) {
      if (error instanceof LineRefused) return refusal(error.code, error.field)
      throw error
    }
  }

  /** What the store knows decides about each line, in their order. */
  function decide(records: Record<string, unknown>[], lines: (ImportedLine | LineResult)[], found: Found[]) {
    const seen = new Map<string, number>()
    const families = new Set(hashing.families())
    const foundOf = Map.groupBy(found, ({ line }) => line)
    return lines.map((line, at) => {
      if (isResult(line)) return line
      const contacts = { email: line.emailKey, phone: line.phone }
      const keys = keysOf(records[at] as Record<string, unknown>, contacts)
      const twice = findTwice(keys, seen)
      const outcome = twice
        ? { ...refusal('twice_in_file', twice.field), other: twice.line }
        : (known(line, foundOf.get(at) ?? []) ?? admitFamily(line, families))
      if (outcome?.outcome !== 'refused') keepNames(keys, at, seen)
      return outcome ?? line
    })
  }

  function admitFamily({ password }: ImportedLine, families: Set<string>): LineResult | null {
    const family = password && familyOf(password)
    if (family === null || families.has(family)) return null
    if (families.size > MOST_FAMILIES) return refusal('hash_too_costly', 'password')
    families.add(family)
    return null
  }

  /** A stand-in for Argon2id says of which family a wrapped hash will be. */
  const familyOf = (password: NonNullable<ImportedLine['password']>): string | null => {
    const { memoryKib, iterations } = config.password
    const outer = `$argon2id$v=19$m=${memoryKib},t=${iterations},p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
    const digest = 'digest' in password ? password.digest : password.wrap(outer)
    return parseDigest(digest, config.password)?.family ?? null
  }

  async function make({ password, totpSecret, ...line }: ImportedLine): Promise<MadeLine> {
    const passwordDigest =
      password === null
        ? null
        : 'digest' in password
          ? password.digest
          : password.wrap(await hashing.wrap(password.inner))
    const sealedTotp = totpSecret === null ? null : secret.seal(APP, totpSecret)
    return { ...line, uuid: line.uuid ?? randomUUID(), passwordDigest, sealedTotp }
  }

  async function noteImported(count: number): Promise<void> {
    const { actor = null, address = null } = currentRequest() ?? {}
    if (count === 0 || actor === null) return
    const at = clock.now()
    await stores.events.addFailures([{ type: 'accounts.imported', account: null, actor, address, count, at }])
  }

  async function importOnce(
    records: Record<string, unknown>[],
    dryRun: boolean,
    made: Map<number, MadeLine>,
  ) {
    const lines = records.map(read)
    const asked = lines.map((line) => (isResult(line) ? null : line))
    const found = records.length === 0 ? [] : await stores.imports.findKnown(asked)
    const decided = decide(records, lines, found)
    const fresh = decided.flatMap((line, at) => (isResult(line) ? [] : [{ line, at }]))
    if (dryRun) return { decided, fresh, added: true }
    await Promise.all(
      fresh.filter(({ at }) => !made.has(at)).map(async ({ line, at }) => made.set(at, await make(line))),
    )
    const rows = fresh.map(({ at }) => made.get(at) as MadeLine)
    const added = rows.length === 0 || (await stores.imports.add(rows, config.passkeys.rpId, clock.now()))
    return { decided, fresh, added }
  }

  return {
    /** One result for each record, in their order. With `dryRun` nothing is hashed and nothing written. */
    async run(records: Record<string, unknown>[], dryRun: boolean): Promise<LineResult[]> {
      const made = new Map<number, MadeLine>()
      for (let tries = 1; ; tries++) {
        const { decided, fresh, added } = await importOnce(records, dryRun, made)
        // Somebody took one of the names since they were looked up: then the next look finds it.
        if (!added && tries < MOST_TRIES) continue
        if (!added) throw new Error('an import found a name taken that no account has')
        if (!dryRun && fresh.length > 0) {
          await noteImported(fresh.length)
          await hashing.refreshFamilies()
        }
        return decided.map((line, at) => (isResult(line) ? line : importedResult(line, made.get(at) ?? null)))
      }
    },
    /** Takes the passwords of other systems from accounts that were not used since; the owner chooses one by reset. */
    async forgetHashes(unusedSince: Date): Promise<{ forgotten: number; isDone: boolean }> {
      const forgotten = await stores.imports.forgetHashes(unusedSince, FORGOTTEN_AT_ONCE, clock.now())
      await hashing.refreshFamilies()
      return { forgotten, isDone: forgotten < FORGOTTEN_AT_ONCE }
    },
    /** The time of a processor that a wrong password takes now, in milliseconds. */
    measureWrong: hashing.measureWrong,
  }

  function importedResult({ uuid, password }: ImportedLine, made: MadeLine | null): LineResult {
    const accountUuid = made?.uuid ?? uuid
    const family = password && familyOf(password)
    return {
      outcome: 'imported',
      ...(accountUuid !== null && { uuid: accountUuid }),
      ...(family && { hash: family.split('$')[0] as string }),
    }
  }
}

const isResult = (line: ImportedLine | LineResult): line is LineResult => 'outcome' in line

const refusal = (code: RefusalCode, field?: string): LineResult => ({
  outcome: 'refused',
  code,
  ...(field !== undefined && { field }),
})

/** Null where nothing of the line is there. */
function known({ uuid }: ImportedLine, found: Found[]): LineResult | null {
  const present = found.find(({ field, imported }) => (uuid !== null ? field === 'uuid' : imported))
  if (present) return { outcome: 'present', ...(present.uuid && { uuid: present.uuid }) }
  const [other] = found
  if (other?.field === 'erased') return refusal('erased', 'uuid')
  return other ? refusal('taken', other.field) : null
}
