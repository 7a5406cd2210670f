-- concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_email_prefix" ON "accounts" USING btree ("email_key" text_pattern_ops);--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_phone_prefix" ON "accounts" USING btree ("phone" text_pattern_ops);--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_locked" ON "accounts" USING btree ("id") WHERE "accounts"."locked_at" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_role" ON "accounts" USING btree ("role_id","id");--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_email_key";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "accounts_phone";
