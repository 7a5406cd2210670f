-- concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_account" ON "messages" USING btree (coalesce("account_uuid", "code_subject"),"id");