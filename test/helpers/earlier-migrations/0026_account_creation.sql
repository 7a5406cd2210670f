-- concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS "accounts_created" ON "accounts" USING btree ("created_at","id");