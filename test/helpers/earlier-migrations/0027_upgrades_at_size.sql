-- concurrently
-- Most databases have these indexes since 0005, 0009 and 0010, which stopped writers while they made them. Where those
-- ran in their present text, this makes what they left out, and then drops what the old indexes served.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_email_claims" ON "accounts" USING btree ("email_key","id") WHERE "accounts"."email_confirmed_at" is null and "accounts"."account_confirmed_at" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_phone_claims" ON "accounts" USING btree ("phone","id") WHERE "accounts"."phone_confirmed_at" is null and "accounts"."account_confirmed_at" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_email_registrations" ON "accounts" USING btree ("email_key","id") WHERE "accounts"."account_confirmed_at" is null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_phone_registrations" ON "accounts" USING btree ("phone","id") WHERE "accounts"."account_confirmed_at" is null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_email_made" ON "accounts" USING btree ("email_key") WHERE "accounts"."origin" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_phone_made" ON "accounts" USING btree ("phone") WHERE "accounts"."origin" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_destination" ON "messages" USING btree (lower("destination")) WHERE "messages"."destination" <> '';--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_due" ON "messages" USING btree ("channel","lane","next_attempt_at") WHERE "messages"."finished_at" is null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_provider_id" ON "messages" USING btree ("gateway","provider_id") WHERE "messages"."provider_id" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_code" ON "messages" USING btree ("code_subject","code_purpose") WHERE "messages"."outcome" is null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "messages_waiting";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "messages_code_unfinished";
