CREATE TABLE "registration_claims" (
	"contact" text NOT NULL,
	"address" text NOT NULL,
	"password_tag" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "registration_claims_contact_address_password_tag_pk" PRIMARY KEY("contact","address","password_tag")
);
--> statement-breakpoint
CREATE INDEX "registration_claims_created_at" ON "registration_claims" USING btree ("created_at");--> statement-breakpoint
INSERT INTO "registration_claims"
	SELECT "waiting_for", "waiting_address", "waiting_password_tag", "updated_at" FROM "accounts"
	WHERE "waiting_for" IS NOT NULL;--> statement-breakpoint
-- Of the other stranger nothing was kept but that there was one.
INSERT INTO "registration_claims"
	SELECT "waiting_for", '', '', "updated_at" FROM "accounts"
	WHERE "waiting_for" IS NOT NULL AND "waiting_contested";--> statement-breakpoint
ALTER TABLE "accounts" DROP COLUMN "waiting_address";--> statement-breakpoint
ALTER TABLE "accounts" DROP COLUMN "waiting_password_tag";--> statement-breakpoint
ALTER TABLE "accounts" DROP COLUMN "waiting_contested";
