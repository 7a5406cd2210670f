CREATE TABLE "housekeeping" (
	"id" integer PRIMARY KEY NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
INSERT INTO "housekeeping" VALUES (1, to_timestamp(0));--> statement-breakpoint
-- No earlier version could refresh a session: people log in again.
TRUNCATE "spent_refresh_tokens", "sessions";--> statement-breakpoint
-- Room in each page for the new version of a refreshed row.
ALTER TABLE "sessions" SET (fillfactor = 75);--> statement-breakpoint
DROP TABLE "spent_refresh_tokens";--> statement-breakpoint
DROP INDEX "sessions_refresh_hash";--> statement-breakpoint
DROP INDEX "sessions_previous_refresh_hash";--> statement-breakpoint
DROP INDEX "sessions_expires_at";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "family_hash" "bytea" NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "generation" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_family_hash" ON "sessions" USING btree ("family_hash");--> statement-breakpoint
ALTER TABLE "sessions" DROP COLUMN "refresh_hash";--> statement-breakpoint
ALTER TABLE "sessions" DROP COLUMN "previous_refresh_hash";