CREATE TABLE "totp_enrolments" (
	"account_id" bigint PRIMARY KEY NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "recovery_codes" DROP CONSTRAINT "recovery_codes_account_id_hash_pk";--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD PRIMARY KEY ("account_id");--> statement-breakpoint
ALTER TABLE "totp_factors" ALTER COLUMN "confirmed_at" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "totp_factors" ALTER COLUMN "last_step" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD COLUMN "hashes" "bytea"[] NOT NULL;--> statement-breakpoint
ALTER TABLE "totp_enrolments" ADD CONSTRAINT "totp_enrolments_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" DROP COLUMN "hash";--> statement-breakpoint
ALTER TABLE "recovery_codes" DROP COLUMN "used_at";--> statement-breakpoint
ALTER TABLE "totp_factors" DROP COLUMN "created_at";