/** Migrations beside a service that is in use. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { applyMigrations, migrationNames, requireVersion } from '../../src/platform/postgres/migrate.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { createDatabase } from '../helpers/servers.ts'
import { startService } from '../helpers/service.ts'

setDefaultTimeout(20_000)

test('a migration that meets a held table gives way, and is applied once the table is free', async () => {
  const { url, drop } = await createDatabase({ migrated: false })
  const holder = postgres(url, { max: 1, onnotice: () => {} })
  await holder`create table poterne_migrations (
    number integer primary key, name text not null, hash text not null, applied_at timestamptz not null)`
  await holder.unsafe('begin; lock table poterne_migrations in share mode')
  const database = await connectServer({ url, poolSize: 1 })
  let timeouts = 0
  const release = () => {
    timeouts += 1
    void holder.unsafe('commit').execute()
  }
  expect(await applyMigrations(database, new Date(), { onLockTimeout: release })).toEqual(migrationNames)
  expect(timeouts).toBe(1)
  await Promise.all([database.close(), holder.end()])
  await drop()
})

test('a replica that is too old for a migrated database is not ready', async () => {
  const service = await startService({ shape: 'postgres' })
  const { database } = service.inside
  await requireVersion(database, '0.0.1')
  const text = `update poterne_migrations set oldest_version = '99.0.0' where number = 0`
  await database.all({ text, params: [] }, {})
  await expect(requireVersion(database, '98.9.9')).rejects.toThrow('99.0.0')
  await requireVersion(database, '99.0.0')
  const { status, body } = await service.call('GET', '/readyz')
  expect([status, body.code]).toEqual([503, 'unavailable'])
  expect(service.log.join('')).toContain('VersionTooOld')
  await service.close()
})
