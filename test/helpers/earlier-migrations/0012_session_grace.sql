ALTER TABLE "accounts" ADD COLUMN "password_changed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "sign_in_ip" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "late_retries" timestamp (3) with time zone[];