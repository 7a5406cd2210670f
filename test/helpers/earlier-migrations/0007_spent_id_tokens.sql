CREATE TABLE "spent_id_tokens" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "spent_id_tokens_expires_at" ON "spent_id_tokens" USING btree ("expires_at");