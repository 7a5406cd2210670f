-- concurrently
-- Every change of an account that is not in its page writes each of its indexes. Contacts that are missing have no entry any
-- more, and who looks for a contact finds it by these and by those of verified ones: operators no longer search by its beginning.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_email_claimed" ON "accounts" USING btree ("email_key","id") WHERE "accounts"."email_key" is not null and "accounts"."email_confirmed_at" is null and "accounts"."account_confirmed_at" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_phone_claimed" ON "accounts" USING btree ("phone","id") WHERE "accounts"."phone" is not null and "accounts"."phone_confirmed_at" is null and "accounts"."account_confirmed_at" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_email_registered" ON "accounts" USING btree ("email_key","id") WHERE "accounts"."email_key" is not null and "accounts"."account_confirmed_at" is null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_phone_registered" ON "accounts" USING btree ("phone","id") WHERE "accounts"."phone" is not null and "accounts"."account_confirmed_at" is null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_email_prefix";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_phone_prefix";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_email_claims";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_phone_claims";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_email_registrations";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_phone_registrations";
