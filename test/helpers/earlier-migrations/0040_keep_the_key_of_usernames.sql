CREATE TABLE "username_keys" (
	"id" integer PRIMARY KEY NOT NULL,
	"key" "bytea" NOT NULL
);

--> statement-breakpoint
-- 32 bytes, of which 244 bits are random.
INSERT INTO "username_keys" ("id", "key") VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
