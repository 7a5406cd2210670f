ALTER TABLE "authorization_codes" ADD COLUMN "nonce" text;--> statement-breakpoint
ALTER TABLE "authorization_codes" ADD COLUMN "scope" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "scope" text;