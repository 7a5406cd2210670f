CREATE TABLE "administration_tokens" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "administration_tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"uuid" uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"name" text NOT NULL,
	"scopes" jsonb NOT NULL,
	"addresses" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"creator_type" text NOT NULL,
	"creator_id" text,
	"creator_name" text,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "administration_tokens_uuid_unique" UNIQUE("uuid")
);
--> statement-breakpoint
CREATE TABLE "administrator_sessions" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"cookie_hash" "bytea" NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"proved_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "administrators" (
	"account_id" bigint PRIMARY KEY NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_signed_in_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"held_until" timestamp (3) with time zone NOT NULL,
	"holder" uuid NOT NULL,
	"answered_at" timestamp (3) with time zone,
	"status" integer,
	"made_id" text
);
--> statement-breakpoint
ALTER TABLE "administrator_sessions" ADD CONSTRAINT "administrator_sessions_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "administrators" ADD CONSTRAINT "administrators_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "administration_tokens_hash" ON "administration_tokens" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "administration_tokens_creator" ON "administration_tokens" USING btree ("creator_id");--> statement-breakpoint
CREATE INDEX "administration_tokens_expires_at" ON "administration_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "administrator_sessions_cookie_hash" ON "administrator_sessions" USING btree ("cookie_hash");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");