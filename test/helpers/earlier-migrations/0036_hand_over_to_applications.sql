CREATE TABLE "authorization_codes" (
	"code_hash" "bytea" PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"application" text NOT NULL,
	"redirect_uri" text NOT NULL,
	"challenge" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"opened" uuid
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "authenticated_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "authorization_codes_session" ON "authorization_codes" USING btree ("session_id","application");
--> statement-breakpoint
-- Whatever ends the session of a browser also ends the sessions of the applications below it and their codes.
CREATE FUNCTION "end_sessions_below"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "sessions" SET "revoked_at" = NEW."revoked_at"
   WHERE "account_id" = NEW."account_id" AND "parent_id" = NEW."id" AND "revoked_at" IS NULL;
  DELETE FROM "authorization_codes" WHERE "session_id" = NEW."id" AND "used_at" IS NULL;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "sessions_end_below" AFTER UPDATE OF "revoked_at" ON "sessions" FOR EACH ROW
  WHEN (NEW."kind" = 'browser' AND OLD."revoked_at" IS NULL AND NEW."revoked_at" IS NOT NULL)
  EXECUTE FUNCTION "end_sessions_below"();
