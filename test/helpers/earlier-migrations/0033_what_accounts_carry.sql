CREATE TABLE "usernames" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"account" uuid
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "profile" jsonb;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "username" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "groups" jsonb;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "tokens_not_before" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "usernames" ADD CONSTRAINT "usernames_account_accounts_uuid_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("uuid") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "usernames_account" ON "usernames" USING btree ("account");