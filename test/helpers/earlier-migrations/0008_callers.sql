CREATE TABLE "code_failures" (
	"subject" uuid NOT NULL,
	"caller_group" text NOT NULL,
	"factor" text NOT NULL,
	"in_a_row" integer NOT NULL,
	"last_day" date NOT NULL,
	CONSTRAINT "code_failures_subject_caller_group_factor_pk" PRIMARY KEY("subject","caller_group","factor")
);
--> statement-breakpoint
CREATE TABLE "known_devices" (
	"account_id" bigint NOT NULL,
	"tag" "bytea" NOT NULL,
	"kind" text NOT NULL,
	"sign_in" integer NOT NULL,
	"last_sign_in_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "known_devices_account_id_tag_pk" PRIMARY KEY("account_id","tag")
);
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "code_group" text DEFAULT 'stranger' NOT NULL;--> statement-breakpoint
ALTER TABLE "known_devices" ADD CONSTRAINT "known_devices_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "code_failures_last_day" ON "code_failures" USING btree ("last_day");--> statement-breakpoint
CREATE INDEX "known_devices_last_sign_in_at" ON "known_devices" USING btree ("last_sign_in_at");--> statement-breakpoint
-- One rule on one counter: the wait, the state with this charge counted, and the state mended if the clock was set back
-- (or the rule's numbers were lowered), which a refusal must write, or the wait it gives would not come true.
-- The rules are in src/domain/limits/store.ts, the states in charge.ts, the same in Lua in store-redis.ts.
CREATE FUNCTION "limits_evaluate"("rule" jsonb, "state" jsonb, "now_ms" bigint,
                                  OUT "wait_ms" bigint, OUT "counted" jsonb, OUT "mended" jsonb)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  "window_ms" bigint := ("rule" ->> 'windowMs')::bigint;
  "count" bigint := ("rule" ->> 'count')::bigint;
  "burst" bigint := ("rule" ->> 'burst')::bigint;
  "interval_ms" bigint := ("rule" ->> 'intervalMs')::bigint;
  "refusal_ms" numeric := ("rule" ->> 'refusalMs')::numeric;
  "maximum_ms" numeric := ("rule" ->> 'maximumMs')::numeric;
  "level" int := coalesce(("state" ->> 'level')::int, 0);
  "until_ms" bigint := ("state" ->> 'until')::bigint;
  "latest_ms" bigint;
  "full_ms" bigint;
  "ahead_ms" bigint;
  "n" bigint;
  "ends_ms" bigint;
BEGIN
  "wait_ms" := 0;
  IF "rule" ->> 'kind' = 'bucket' THEN
    "ahead_ms" := greatest(("state" ->> 'at')::bigint - "now_ms", 0);
    "latest_ms" := "now_ms" + "burst" * "interval_ms";
    "full_ms" := greatest(("state" ->> 'full')::bigint - "ahead_ms", "now_ms");
    IF "ahead_ms" > 0 OR "full_ms" > "latest_ms" THEN
      "full_ms" := least("full_ms", "latest_ms");
      "mended" := jsonb_build_object('full', "full_ms", 'at', "now_ms", 'ends', "full_ms");
    END IF;
    "wait_ms" := greatest("full_ms" - "now_ms" - ("burst" - 1) * "interval_ms", 0);
    "full_ms" := "full_ms" + "interval_ms";
    "counted" := jsonb_build_object('full', "full_ms", 'at', "now_ms", 'ends', "full_ms");
    RETURN;
  END IF;

  IF "rule" ->> 'kind' = 'failures' AND "level" > 0 THEN
    "latest_ms" := "now_ms" + least("refusal_ms" * 2::numeric ^ ("level" - 1), "maximum_ms");
    IF "until_ms" > "latest_ms" THEN
      "until_ms" := "latest_ms";
      "mended" := "limits_refused"("rule", "level", "until_ms");
    END IF;
    IF "now_ms" < "until_ms" + "window_ms" THEN
      "wait_ms" := greatest("until_ms" - "now_ms", 0);
      "level" := least("level" + 1, 40);
      "latest_ms" := "now_ms" + least("refusal_ms" * 2::numeric ^ ("level" - 1), "maximum_ms");
      "counted" := "limits_refused"("rule", "level", "latest_ms");
      RETURN;
    END IF;
    "state" := '{}';
  END IF;

  "n" := coalesce(("state" ->> 'n')::bigint, 0);
  "ends_ms" := ("state" ->> 'ends')::bigint;
  IF "n" = 0 OR "ends_ms" <= "now_ms" THEN
    "n" := 0;
    "ends_ms" := "now_ms" + "window_ms";
  ELSIF "ends_ms" > "now_ms" + "window_ms" THEN
    "ends_ms" := "now_ms" + "window_ms";
    "mended" := jsonb_build_object('n', "n", 'ends', "ends_ms");
  END IF;
  "counted" := jsonb_build_object('n', "n" + 1, 'ends', "ends_ms");
  IF "rule" ->> 'kind' = 'window' THEN
    IF "n" >= "count" THEN
      "wait_ms" := "ends_ms" - "now_ms";
    END IF;
  ELSIF "n" + 1 >= "count" THEN
    "counted" := "limits_refused"("rule", 1, "now_ms" + least("refusal_ms", "maximum_ms")::bigint);
  END IF;
END
$$;
--> statement-breakpoint
-- Evaluates charges, [{key, rule}, …], and counts them everywhere or nowhere. Gives the milliseconds to wait, 0 when
-- admitted. The locks come first, in one order for everybody, also for counters that do not exist yet: no two callers
-- see the same state, and none wait in a circle. The statement after them sees what their last holders committed.
CREATE FUNCTION "limits_charge"("charges" jsonb, "now_ms" bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  "answer" bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1886348404, "locks"."number")
     FROM (SELECT DISTINCT hashtext("charge" ->> 'key') AS "number"
             FROM jsonb_array_elements("charges") AS "charge" ORDER BY 1) AS "locks";
  WITH "evaluated" AS MATERIALIZED (
    SELECT "charge" ->> 'key' AS "key", "verdict".*
      FROM jsonb_array_elements("charges") AS "charge"
      LEFT JOIN "limits" ON "limits"."key" = "charge" ->> 'key'
     CROSS JOIN LATERAL "limits_evaluate"("charge" -> 'rule', coalesce("limits"."state", '{}'), "now_ms") AS "verdict"
  ), "worst" AS (
    SELECT max("wait_ms") AS "wait_ms" FROM "evaluated"
  ), "written" AS (
    INSERT INTO "limits" ("key", "state", "expires_at")
    SELECT "key", "next", to_timestamp(("next" ->> 'ends')::bigint / 1000.0)
      FROM (SELECT "key", CASE WHEN "worst"."wait_ms" = 0 THEN "counted" ELSE "mended" END AS "next"
              FROM "evaluated", "worst") AS "outcome"
     WHERE "next" IS NOT NULL
     ORDER BY "key"
        ON CONFLICT ("key") DO UPDATE SET "state" = excluded."state", "expires_at" = excluded."expires_at"
  )
  SELECT "wait_ms" INTO "answer" FROM "worst";
  RETURN "answer";
END
$$;
