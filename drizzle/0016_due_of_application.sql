-- concurrently
-- Who looks for what waits for one application meets none of what waits for another, which may take nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_due_of_application" ON "messages" USING btree ("destination","next_attempt_at") WHERE "messages"."finished_at" is null and "messages"."channel" = 'application';
