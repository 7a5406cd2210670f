CREATE TABLE "back_channels" (
	"application" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
-- Tells the application of a session that ended, whatever ended it, in the same transaction. Nobody is told of a session
-- whose time is over, nor of one that gave way to newer ones: that one's "ends_at" is moved.
CREATE FUNCTION "tell_of_ended_session"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "messages" ("channel", "destination", "purpose", "language", "values", "account_uuid", "created_at",
                          "next_attempt_at")
  SELECT 'application', "application", 'logout', 'en', jsonb_build_object('sub', "uuid", 'sid', NEW."id"), "uuid",
         NEW."revoked_at", NEW."revoked_at"
    FROM "back_channels", "accounts"
   WHERE "application" = NEW."client_id" AND "accounts"."id" = NEW."account_id";
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "sessions_tell_of_end" AFTER UPDATE OF "revoked_at" ON "sessions" FOR EACH ROW
  WHEN (NEW."client_id" IS NOT NULL AND OLD."revoked_at" IS NULL AND NEW."revoked_at" IS NOT NULL
        AND NEW."ends_at" IS NOT DISTINCT FROM OLD."ends_at")
  EXECUTE FUNCTION "tell_of_ended_session"();
--> statement-breakpoint
-- An erasure takes the sessions along, so their applications are told before it. The sessions that ended are told of already.
CREATE FUNCTION "tell_of_erased_account"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "messages" ("channel", "destination", "purpose", "language", "values", "account_uuid", "created_at",
                          "next_attempt_at")
  SELECT 'application', "application", 'logout', 'en', jsonb_build_object('sub', OLD."uuid", 'sid', "id"), OLD."uuid",
         clock_timestamp(), clock_timestamp()
    FROM "sessions" JOIN "back_channels" ON "application" = "client_id"
   WHERE "account_id" = OLD."id" AND "revoked_at" IS NULL;
  RETURN OLD;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "accounts_tell_of_erasure" BEFORE DELETE ON "accounts" FOR EACH ROW
  EXECUTE FUNCTION "tell_of_erased_account"();
