CREATE TABLE "erased_accounts" (
	"uuid" uuid PRIMARY KEY NOT NULL,
	"erased_at" timestamp (3) with time zone NOT NULL
);

--> statement-breakpoint
-- Since when no erasure was forgotten: what the version before swept is not known.
INSERT INTO "erased_accounts" ("uuid", "erased_at") VALUES ('00000000-0000-0000-0000-000000000000', now());
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "sweep_events"("older_than" timestamptz, "most" integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  "removed" integer;
BEGIN
  PERFORM set_config('poterne.keeps_events', 'off', true);
  WITH "first" AS MATERIALIZED (
    SELECT "id", "created_at" FROM "events" ORDER BY "id" LIMIT "most"
  ), "gone" AS (
    DELETE FROM "events" WHERE "id" IN (SELECT "id" FROM "first" WHERE "created_at" < "older_than")
    RETURNING "id", "type", "account", "created_at"
  ), "forgotten" AS (
    DELETE FROM "event_details" WHERE "event_id" IN (SELECT "id" FROM "gone")
  ), "erased" AS (
    INSERT INTO "erased_accounts" ("uuid", "erased_at")
    SELECT "account", "created_at" FROM "gone" WHERE "type" = 'account.erased' AND "account" IS NOT NULL
    ON CONFLICT DO NOTHING
  )
  SELECT count(*) INTO "removed" FROM "gone";
  PERFORM set_config('poterne.keeps_events', 'on', true);
  RETURN "removed";
END
$$;
