ALTER TABLE "totp_factors" ADD COLUMN "loss_told_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "totp_factors" ADD COLUMN "recovered_at" timestamp (3) with time zone;