ALTER TABLE "accounts" ADD COLUMN "locked_reason" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "metadata" jsonb;