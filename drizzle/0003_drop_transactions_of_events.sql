-- oldest version beside it: 0.1.0
DROP FUNCTION "adopt_restored_events"();--> statement-breakpoint
DROP INDEX "events_transaction";--> statement-breakpoint
ALTER TABLE "events" DROP COLUMN "transaction";
