CREATE TABLE "backups" (
	"id" integer PRIMARY KEY NOT NULL,
	"taken_for" timestamp (3) with time zone,
	"last_success_at" timestamp (3) with time zone,
	"last_failure_at" timestamp (3) with time zone,
	"last_failure" text
);
--> statement-breakpoint
CREATE TABLE "relocations" (
	"id" integer PRIMARY KEY NOT NULL,
	"moved_to" text NOT NULL,
	"moved_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
INSERT INTO "backups" ("id") VALUES (1);
