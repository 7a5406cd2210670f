CREATE TABLE "lasting_keys" (
	"label" text PRIMARY KEY NOT NULL,
	"sealed_key" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "server_secrets" (
	"id" text PRIMARY KEY NOT NULL,
	"current_at" timestamp (3) with time zone,
	"current_since" timestamp (3) with time zone,
	"missing_at" timestamp (3) with time zone,
	"turn_until" timestamp (3) with time zone
);
