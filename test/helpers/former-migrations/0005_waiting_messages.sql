DROP INDEX "messages_waiting";--> statement-breakpoint
DROP INDEX "messages_code";--> statement-breakpoint
CREATE INDEX "messages_waiting" ON "messages" USING btree ("channel","next_attempt_at") WHERE "messages"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "messages_code" ON "messages" USING btree ("code_subject","code_purpose") WHERE "messages"."outcome" is null;