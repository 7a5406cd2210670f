-- Whatever ends the session of a browser also ends the sessions of the applications below it and their codes. Each of
-- them that lived is recorded as the browser's was: by the same actor, in the same request.
CREATE OR REPLACE FUNCTION "end_sessions_below"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH "below" AS (
    UPDATE "sessions" SET "revoked_at" = NEW."revoked_at"
     WHERE "account_id" = NEW."account_id" AND "parent_id" = NEW."id" AND "revoked_at" IS NULL
    RETURNING "id", "expires_at"
  ), "lived" AS MATERIALIZED (
    SELECT "id" FROM "below" WHERE "expires_at" > NEW."revoked_at"
  ), "browsers" AS (
    SELECT "events".*, "address", "device"
      FROM "events" LEFT JOIN "event_details" ON "event_id" = "events"."id"
     WHERE EXISTS (SELECT FROM "lived")
       AND "account" = (SELECT "uuid" FROM "accounts" WHERE "accounts"."id" = NEW."account_id")
       AND "session_id" = NEW."id" AND "type" = 'session.ended'
     ORDER BY "events"."id" DESC LIMIT 1
  ), "recorded" AS (
    INSERT INTO "events" ("type", "outcome", "created_at", "account", "actor_type", "actor_id", "actor_name",
                          "session_id", "request_id", "data")
    SELECT "type", "outcome", "created_at", "account", "actor_type", "actor_id", "actor_name", "lived"."id",
           "request_id", '{"cause": "browser"}'
      FROM "lived", "browsers"
    RETURNING "id"
  )
  INSERT INTO "event_details" ("event_id", "address", "device")
  SELECT "recorded"."id", "address", "device" FROM "recorded", "browsers"
   WHERE "address" IS NOT NULL OR "device" IS NOT NULL;
  DELETE FROM "authorization_codes" WHERE "session_id" = NEW."id" AND "used_at" IS NULL;
  RETURN NULL;
END
$$;
