/** The rules of scripts/migration-rules.ts, each fed a file that breaks it. */
import { expect, test } from 'bun:test'
import { checkMigration } from '../../scripts/migration-rules.ts'

const OLDEST = '-- oldest version beside it: 1.2.3\n'

test.each([
  ['CREATE INDEX "a" ON "accounts" USING btree ("email");', 'CREATE INDEX on accounts'],
  ['CREATE UNIQUE INDEX a ON public.sessions (id)', 'CREATE INDEX on sessions'],
  ['CREATE INDEX CONCURRENTLY IF NOT EXISTS "a" ON "accounts" ("email");', 'a file of its own'],
  [
    '-- concurrently\nCREATE INDEX CONCURRENTLY "a" ON "accounts" ("email");',
    'only CREATE INDEX CONCURRENTLY IF NOT',
  ],
  ['-- concurrently\nUPDATE accounts SET email = null', 'only CREATE INDEX CONCURRENTLY IF NOT'],
  ['ALTER TABLE "accounts" DROP COLUMN "email";', 'DROP COLUMN breaks'],
  ['ALTER TABLE "accounts"\n  RENAME COLUMN "email" TO "mail";', 'RENAME COLUMN breaks'],
  ['ALTER TABLE "accounts" RENAME "email" TO "mail";', 'breaks the version before'],
  ['ALTER TABLE "accounts" RENAME TO "people";', 'RENAME TO breaks'],
  ['DROP TABLE "accounts";', 'DROP TABLE breaks'],
  ['ALTER TABLE "accounts" ALTER COLUMN "email" SET DATA TYPE bytea;', 'breaks the version before'],
  ['ALTER TABLE "accounts" ADD COLUMN "motto" text NOT NULL;', 'ADD COLUMN motto is NOT NULL'],
  ['UPDATE "accounts" SET "motto" = \'\'', 'goes through accounts row by row'],
  ['DELETE FROM sessions', 'goes through sessions row by row'],
  ['INSERT INTO "housekeeping" SELECT 2, now() FROM "accounts"', 'goes through accounts row by row'],
  [
    'ALTER TABLE "sessions" ADD CONSTRAINT "a" FOREIGN KEY ("b") REFERENCES "accounts"("id");',
    'add it as NOT VALID',
  ],
  ['ALTER TABLE accounts ADD CHECK (id > 0)', 'add it as NOT VALID'],
  ['ALTER TABLE "accounts" ALTER COLUMN "email" SET NOT NULL;', 'SET NOT NULL reads every row'],
  ['ALTER TABLE "accounts" ADD COLUMN "key" uuid DEFAULT gen_random_uuid();', 'makes accounts anew'],
  ["SET LOCAL lock_timeout = '0';", 'lifts lock_timeout'],
  ['set lock_timeout to 0', 'lifts lock_timeout'],
  ['reset lock_timeout', 'lifts lock_timeout'],
  [`select set_config('lock_timeout', '0', true)`, 'lifts lock_timeout'],
])('a new migration may not say %s', (text, problem) => {
  expect(checkMigration('0001_new.sql', text)).toEqual([expect.stringContaining(problem)])
})

test.each([
  [
    'CREATE TABLE "notes" ("id" uuid NOT NULL);\n--> statement-breakpoint\nCREATE INDEX "a" ON "notes" ("id");',
  ],
  ['CREATE INDEX "a" ON "signing_keys" ("created_at");'],
  [
    '-- concurrently\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "a" ON "accounts" ("email");\n--> statement-breakpoint\nDROP INDEX CONCURRENTLY IF EXISTS "b";',
  ],
  [`${OLDEST}ALTER TABLE "accounts" DROP COLUMN "email";`],
  ['ALTER TABLE "accounts" ADD COLUMN "motto" text;'],
  [`ALTER TABLE "accounts" ADD COLUMN "motto" text DEFAULT '' NOT NULL;`],
  ['-- never DROP COLUMN here\nALTER TABLE "accounts" ADD COLUMN "motto" text;'],
  ["set local lock_timeout = '500ms'"],
  ['ALTER TABLE "accounts" ADD CHECK (id > 0) NOT VALID;'],
  ['CREATE TABLE "notes" ("id" uuid);\n--> statement-breakpoint\nINSERT INTO "notes" VALUES (null);'],
  ['UPDATE "signing_keys" SET "published_until" = null;'],
  ['CREATE FUNCTION "f"() RETURNS void LANGUAGE sql AS $$ DELETE FROM "accounts" $$;'],
])('a new migration may say %s', (text) => {
  expect(checkMigration('0001_new.sql', text)).toEqual([])
})

test('the first migration meets an empty database, so no rule holds for it', () => {
  expect(checkMigration('0000_initial.sql', 'ALTER TABLE "accounts" DROP COLUMN "email";')).toEqual([])
})
