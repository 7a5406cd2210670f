-- concurrently
-- formerly: 23c22e655731ecbd04885cee8ff2230b480d9295bff98734cf69ad6c3c6f8df5
CREATE INDEX CONCURRENTLY IF NOT EXISTS "messages_unverified" ON "messages" USING btree ("code_subject","code_purpose") WHERE "messages"."gateway" is not null and "messages"."verified_at" is null;