-- concurrently
-- Nothing looks for the message of a code by it any more, and it made every note of a typed code write all other indexes.
DROP INDEX CONCURRENTLY IF EXISTS "messages_unverified";
