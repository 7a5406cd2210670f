-- concurrently
CREATE INDEX CONCURRENTLY IF NOT EXISTS "events_created_at" ON "events" USING brin ("created_at");