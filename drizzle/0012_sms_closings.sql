CREATE TABLE "sms_closings" (
	"prefix" text PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
	"closed_until" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"creator_type" text NOT NULL,
	"creator_id" text,
	"creator_name" text
);
