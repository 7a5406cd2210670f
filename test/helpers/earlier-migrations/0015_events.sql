CREATE TABLE "event_details" (
	"event_id" bigint PRIMARY KEY NOT NULL,
	"address" text,
	"device" text,
	"count" integer,
	"failure_key" text
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"outcome" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"account" uuid,
	"actor_type" text NOT NULL,
	"actor_id" text,
	"actor_name" text,
	"session_id" uuid,
	"request_id" text,
	"data" jsonb NOT NULL,
	"transaction" "xid8" DEFAULT pg_current_xact_id() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "event_details_failure_key" ON "event_details" USING btree ("failure_key") WHERE "event_details"."failure_key" is not null;--> statement-breakpoint
CREATE INDEX "events_account" ON "events" USING btree ("account","id");--> statement-breakpoint
CREATE INDEX "events_type" ON "events" USING btree ("type","id");--> statement-breakpoint
CREATE INDEX "events_transaction" ON "events" USING btree ("transaction","id");--> statement-breakpoint
CREATE INDEX "events_actor" ON "events" USING btree ("actor_id","id") WHERE "events"."actor_type" <> 'account';
--> statement-breakpoint
-- Events are evidence: they are written once. Only the functions below, which set "poterne.keeps_events", may remove
-- them or renumber their transactions.
CREATE FUNCTION "events_are_kept"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('poterne.keeps_events', true) IS DISTINCT FROM 'off' THEN
    RAISE EXCEPTION 'events are neither changed nor removed';
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "events_are_kept" BEFORE UPDATE OR DELETE OR TRUNCATE ON "events"
FOR EACH STATEMENT EXECUTE FUNCTION "events_are_kept"();
--> statement-breakpoint
-- Removes up to that many events which are older, with what is known beside them. They are in the order of their age,
-- so the oldest ones are read, and no more than are removed.
CREATE FUNCTION "sweep_events"("older_than" timestamptz, "most" integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  "removed" integer;
BEGIN
  PERFORM set_config('poterne.keeps_events', 'off', true);
  WITH "first" AS MATERIALIZED (
    SELECT "id", "created_at" FROM "events" ORDER BY "id" LIMIT "most"
  ), "gone" AS (
    DELETE FROM "events" WHERE "id" IN (SELECT "id" FROM "first" WHERE "created_at" < "older_than") RETURNING "id"
  ), "forgotten" AS (
    DELETE FROM "event_details" WHERE "event_id" IN (SELECT "id" FROM "gone")
  )
  SELECT count(*) INTO "removed" FROM "gone";
  PERFORM set_config('poterne.keeps_events', 'on', true);
  RETURN "removed";
END
$$;
--> statement-breakpoint
-- A restored table carries the transaction numbers of the server it comes from, which lie in the future of this one.
CREATE FUNCTION "adopt_restored_events"() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  "adopted" integer;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM "events" WHERE "transaction" >= pg_snapshot_xmax(pg_current_snapshot())) THEN
    RETURN 0;
  END IF;
  PERFORM set_config('poterne.keeps_events', 'off', true);
  UPDATE "events" SET "transaction" = '3' WHERE "transaction" >= pg_snapshot_xmax(pg_current_snapshot());
  GET DIAGNOSTICS "adopted" = ROW_COUNT;
  PERFORM set_config('poterne.keeps_events', 'on', true);
  RETURN "adopted";
END
$$;
