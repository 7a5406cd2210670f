-- concurrently
-- Of a browser's codes for an application only the newest few count, however many were used before them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "authorization_codes_newest" ON "authorization_codes" USING btree ("session_id","application","expires_at");--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "authorization_codes_session";
