CREATE TABLE "account_codes" (
	"account_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"id" uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"sent_to" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "account_codes_account_id_kind_pk" PRIMARY KEY("account_id","kind")
);
--> statement-breakpoint
ALTER TABLE "account_codes" ADD CONSTRAINT "account_codes_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "account_codes_id" ON "account_codes" USING btree ("id");--> statement-breakpoint
CREATE INDEX "account_codes_expires_at" ON "account_codes" USING btree ("expires_at");