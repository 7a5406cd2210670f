CREATE TABLE "two_factor_removals" (
	"account_id" bigint PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"actor_type" text NOT NULL,
	"actor_id" text,
	"actor_name" text
);
--> statement-breakpoint
ALTER TABLE "two_factor_removals" ADD CONSTRAINT "two_factor_removals_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "two_factor_removals_id" ON "two_factor_removals" USING btree ("id");--> statement-breakpoint
CREATE INDEX "two_factor_removals_due_at" ON "two_factor_removals" USING btree ("due_at");