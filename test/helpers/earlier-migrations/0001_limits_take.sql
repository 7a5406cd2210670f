CREATE INDEX "code_budgets_day" ON "code_budgets" USING btree ("day");
--> statement-breakpoint
-- The times of a window that still count, ascending; what stands in the future, the clock having been set back, counts as now.
CREATE FUNCTION "limits_recent"("state" jsonb, "window_ms" bigint, "now_ms" bigint) RETURNS bigint[]
LANGUAGE sql IMMUTABLE AS $$
  SELECT array(
    SELECT least("time"::bigint, "now_ms")
      FROM jsonb_array_elements_text("state" -> 'times') AS "time"
     WHERE "time"::bigint > "now_ms" - "window_ms"
     ORDER BY 1)
$$;
--> statement-breakpoint
-- The state of a counter of failures that refuses until "until_ms".
CREATE FUNCTION "limits_refused"("rule" jsonb, "level" int, "until_ms" bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('level', "level", 'until', "until_ms", 'ends', "until_ms" + ("rule" ->> 'windowMs')::bigint)
$$;
--> statement-breakpoint
-- One rule on one counter: the wait, the state with this take counted, and the state mended if the clock was set back
-- (or the rule's numbers were lowered), which a refusal must write, or the wait it tells would not come true.
-- The rules stand in src/core/limits/store.ts, the states in demand.ts, the same in Lua in store-redis.ts.
CREATE FUNCTION "limits_judge"("rule" jsonb, "state" jsonb, "now_ms" bigint,
                               OUT "wait_ms" bigint, OUT "counted" jsonb, OUT "mended" jsonb)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  "window_ms" bigint := ("rule" ->> 'windowMs')::bigint;
  "count" int := ("rule" ->> 'count')::int;
  "burst" bigint := ("rule" ->> 'burst')::bigint;
  "interval_ms" bigint := ("rule" ->> 'intervalMs')::bigint;
  "refusal_ms" numeric := ("rule" ->> 'refusalMs')::numeric;
  "maximum_ms" numeric := ("rule" ->> 'maximumMs')::numeric;
  "level" int := coalesce(("state" ->> 'level')::int, 0);
  "until_ms" bigint := ("state" ->> 'until')::bigint;
  "latest_ms" bigint;
  "full_ms" bigint;
  "ahead_ms" bigint;
  "times" bigint[];
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

  "times" := "limits_recent"("state", "window_ms", "now_ms");
  IF ("state" ->> 'ends')::bigint > "now_ms" + "window_ms" THEN
    "mended" := jsonb_build_object('times', "times", 'ends', "now_ms" + "window_ms");
  END IF;
  "counted" := jsonb_build_object('times', "times" || "now_ms", 'ends', "now_ms" + "window_ms");
  IF "rule" ->> 'kind' = 'window' THEN
    IF cardinality("times") >= "count" THEN
      "wait_ms" := "times"[cardinality("times") - "count" + 1] + "window_ms" - "now_ms";
    END IF;
  ELSIF cardinality("times") + 1 >= "count" THEN
    "counted" := "limits_refused"("rule", 1, "now_ms" + least("refusal_ms", "maximum_ms")::bigint);
  END IF;
END
$$;
--> statement-breakpoint
-- Judges a demand, [{key, rule}, …], and counts it everywhere or nowhere. Gives the milliseconds to wait, 0 when admitted.
-- The locks come first, in one order for everybody, also for counters that do not exist yet: no two callers see the
-- same state, and none wait in a circle. The statement after them sees what their last holders committed.
CREATE FUNCTION "limits_take"("demands" jsonb, "now_ms" bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  "answer" bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1886348404, "locks"."number")
     FROM (SELECT DISTINCT hashtext("demand" ->> 'key') AS "number"
             FROM jsonb_array_elements("demands") AS "demand" ORDER BY 1) AS "locks";
  WITH "judged" AS MATERIALIZED (
    SELECT "demand" ->> 'key' AS "key", "verdict".*
      FROM jsonb_array_elements("demands") AS "demand"
      LEFT JOIN "limits" ON "limits"."key" = "demand" ->> 'key'
     CROSS JOIN LATERAL "limits_judge"("demand" -> 'rule', coalesce("limits"."state", '{}'), "now_ms") AS "verdict"
  ), "worst" AS (
    SELECT max("wait_ms") AS "wait_ms" FROM "judged"
  ), "written" AS (
    INSERT INTO "limits" ("key", "state", "expires_at")
    SELECT "key", "next", to_timestamp(("next" ->> 'ends')::bigint / 1000.0)
      FROM (SELECT "key", CASE WHEN "worst"."wait_ms" = 0 THEN "counted" ELSE "mended" END AS "next"
              FROM "judged", "worst") AS "outcome"
     WHERE "next" IS NOT NULL
     ORDER BY "key"
        ON CONFLICT ("key") DO UPDATE SET "state" = excluded."state", "expires_at" = excluded."expires_at"
  )
  SELECT "wait_ms" INTO "answer" FROM "worst";
  RETURN "answer";
END
$$;
