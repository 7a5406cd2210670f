CREATE TABLE "webhook_endpoints" (
	"name" text PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"holder" uuid,
	"held_until" timestamp (3) with time zone NOT NULL,
	"last_accepted_at" timestamp (3) with time zone,
	"away_since" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhook_retries" (
	"endpoint" text NOT NULL,
	"event_id" bigint NOT NULL,
	"attempts" integer NOT NULL,
	"set_aside_at" timestamp (3) with time zone NOT NULL,
	"due_at" timestamp (3) with time zone,
	"last_failure" text,
	CONSTRAINT "webhook_retries_endpoint_event_id_pk" PRIMARY KEY("endpoint","event_id")
);
--> statement-breakpoint
ALTER TABLE "webhook_retries" ADD CONSTRAINT "webhook_retries_endpoint_webhook_endpoints_name_fk" FOREIGN KEY ("endpoint") REFERENCES "public"."webhook_endpoints"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_retries_due_at" ON "webhook_retries" USING btree ("endpoint","due_at");