CREATE TABLE "undo_links" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"replaced_id" bigint NOT NULL,
	"added_at" timestamp (3) with time zone,
	"added_by" uuid,
	"had_two_factors" boolean NOT NULL,
	"had_app" boolean NOT NULL,
	"used_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "known_devices" ADD COLUMN "first_sign_in_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "undo_links" ADD CONSTRAINT "undo_links_replaced_id_replaced_contacts_id_fk" FOREIGN KEY ("replaced_id") REFERENCES "public"."replaced_contacts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "undo_links_replaced" ON "undo_links" USING btree ("replaced_id");