-- The indexes of messages that belong here are made by 0027, without stopping writers.
CREATE TABLE "early_receipts" (
	"gateway" text NOT NULL,
	"provider_id" text NOT NULL,
	"receipt" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "early_receipts_gateway_provider_id_pk" PRIMARY KEY("gateway","provider_id")
);
--> statement-breakpoint
CREATE TABLE "refused_addresses" (
	"tag" "bytea" PRIMARY KEY NOT NULL,
	"refused_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sms_funnel" (
	"day" date NOT NULL,
	"gateway" text NOT NULL,
	"country" text NOT NULL,
	"stage" text NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "sms_funnel_day_gateway_country_stage_pk" PRIMARY KEY("day","gateway","country","stage")
);
--> statement-breakpoint
CREATE TABLE "sms_prefixes" (
	"prefix" text NOT NULL,
	"day" date NOT NULL,
	"codes" integer DEFAULT 0 NOT NULL,
	"verified" integer DEFAULT 0 NOT NULL,
	"closed_until" timestamp (3) with time zone,
	CONSTRAINT "sms_prefixes_prefix_day_pk" PRIMARY KEY("prefix","day")
);
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "lane" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "account_uuid" uuid;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "gateway" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "provider_id" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "receipt" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "verified_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "early_receipts_received_at" ON "early_receipts" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "refused_addresses_refused_at" ON "refused_addresses" USING btree ("refused_at");--> statement-breakpoint
CREATE INDEX "sms_prefixes_day" ON "sms_prefixes" USING btree ("day");
