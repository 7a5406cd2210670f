-- The indexes of accounts and messages that belong here are made by 0027, without stopping writers.
CREATE TABLE "replaced_contacts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "replaced_contacts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"destination" text NOT NULL,
	"destination_key" text NOT NULL,
	"verified_at" timestamp (3) with time zone NOT NULL,
	"replaced_at" timestamp (3) with time zone NOT NULL,
	"session_id" uuid NOT NULL,
	"known_client" boolean NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "origin" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "email_added_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "email_added_by" uuid;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "phone_added_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "phone_added_by" uuid;--> statement-breakpoint
ALTER TABLE "identities" ADD COLUMN "added_by" uuid;--> statement-breakpoint
ALTER TABLE "totp_factors" ADD COLUMN "added_by" uuid;--> statement-breakpoint
ALTER TABLE "replaced_contacts" ADD CONSTRAINT "replaced_contacts_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "replaced_contacts_account" ON "replaced_contacts" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "replaced_contacts_replaced_at" ON "replaced_contacts" USING btree ("replaced_at");
