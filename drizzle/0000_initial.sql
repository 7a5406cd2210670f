-- What a search for any part of a contact, a name or a username reads. The extension pg_trgm is not everywhere; arrays of
-- three characters each, in an index of kind GIN, do the same with what every PostgreSQL has.
CREATE FUNCTION "account_search_text"("email" text, "phone" text, "username" text, "profile" jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(coalesce("email", '') || E'\n' || coalesce("phone", '') || E'\n' || coalesce("username", '') || E'\n'
    || coalesce("profile" ->> 'name', '') || E'\n' || coalesce("profile" ->> 'given_name', '') || ' '
    || coalesce("profile" ->> 'family_name', ''))
$$;
--> statement-breakpoint
CREATE FUNCTION "account_trigrams"("searched" text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array(SELECT DISTINCT substr("searched", "place", 3) FROM generate_series(1, length("searched") - 2) "place")
$$;
--> statement-breakpoint
CREATE TABLE "account_codes" (
	"account_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"id" uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"sent_to" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"remove_factors" boolean DEFAULT false NOT NULL,
	CONSTRAINT "account_codes_account_id_kind_pk" PRIMARY KEY("account_id","kind")
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"failed_attempts" integer DEFAULT 0 NOT NULL,
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "accounts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"uuid" uuid NOT NULL,
	"email" text,
	"phone" text,
	"password_digest" text,
	"accountable_type" text NOT NULL,
	"accountable_id" bigint,
	"role_id" integer NOT NULL,
	"remember_created_at" timestamp (3) with time zone,
	"sign_in_count" integer DEFAULT 0 NOT NULL,
	"current_sign_in_at" timestamp (3) with time zone,
	"last_sign_in_at" timestamp (3) with time zone,
	"current_sign_in_ip" text,
	"last_sign_in_ip" text,
	"account_confirmed_at" timestamp (3) with time zone,
	"unlock_token" text,
	"locked_at" timestamp (3) with time zone,
	"two_factor_enabled" boolean DEFAULT false NOT NULL,
	"provider" text DEFAULT 'local' NOT NULL,
	"provider_uid" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"email_key" text,
	"email_confirmed_at" timestamp (3) with time zone,
	"phone_confirmed_at" timestamp (3) with time zone,
	"language" text NOT NULL,
	"password_changed_at" timestamp (3) with time zone,
	"locked_reason" text,
	"metadata" jsonb,
	"waiting_for" text,
	"origin" text,
	"email_added_at" timestamp (3) with time zone,
	"email_added_by" uuid,
	"phone_added_at" timestamp (3) with time zone,
	"phone_added_by" uuid,
	"profile" jsonb,
	"username" text,
	"groups" jsonb,
	"tokens_not_before" timestamp (3) with time zone,
	"trust_epoch" integer DEFAULT 0 NOT NULL,
	"test_identity" boolean DEFAULT false NOT NULL,
	"invitation_id" bigint,
	"terms_version" text,
	"terms_accepted_at" timestamp (3) with time zone,
	CONSTRAINT "accounts_uuid_unique" UNIQUE("uuid")
);
--> statement-breakpoint
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
CREATE TABLE "authorization_codes" (
	"code_hash" "bytea" PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"application" text NOT NULL,
	"redirect_uri" text NOT NULL,
	"challenge" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"opened" uuid
);
--> statement-breakpoint
CREATE TABLE "backups" (
	"id" integer PRIMARY KEY NOT NULL,
	"taken_for" timestamp (3) with time zone,
	"last_success_at" timestamp (3) with time zone,
	"last_failure_at" timestamp (3) with time zone,
	"last_failure" text,
	"last_warning" text
);
--> statement-breakpoint
CREATE TABLE "code_budgets" (
	"subject" uuid NOT NULL,
	"purpose" text NOT NULL,
	"day" date NOT NULL,
	"wrong" integer NOT NULL,
	CONSTRAINT "code_budgets_subject_purpose_day_pk" PRIMARY KEY("subject","purpose","day")
);
--> statement-breakpoint
CREATE TABLE "code_failures" (
	"subject" uuid NOT NULL,
	"caller_group" text NOT NULL,
	"factor" text NOT NULL,
	"in_a_row" integer NOT NULL,
	"last_day" date NOT NULL,
	CONSTRAINT "code_failures_subject_caller_group_factor_pk" PRIMARY KEY("subject","caller_group","factor")
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "codes" (
	"subject" uuid NOT NULL,
	"purpose" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"message_id" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "codes_subject_purpose_pk" PRIMARY KEY("subject","purpose")
);
--> statement-breakpoint
CREATE TABLE "contact_changes" (
	"account_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"destination" text NOT NULL,
	"destination_key" text NOT NULL,
	"code_subject" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "contact_changes_account_id_kind_pk" PRIMARY KEY("account_id","kind")
);
--> statement-breakpoint
CREATE TABLE "early_receipts" (
	"gateway" text NOT NULL,
	"provider_id" text NOT NULL,
	"receipt" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "early_receipts_gateway_provider_id_pk" PRIMARY KEY("gateway","provider_id")
);
--> statement-breakpoint
CREATE TABLE "erased_accounts" (
	"uuid" uuid PRIMARY KEY NOT NULL,
	"erased_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_details" (
	"event_id" bigint PRIMARY KEY NOT NULL,
	"address" text,
	"device" text,
	"count" integer,
	"failure_key" text
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"outcome" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"account" uuid,
	"actor_type" text NOT NULL,
	"actor_id" text,
	"actor_name" text,
	"session_id" uuid,
	"request_id" text,
	"data" jsonb NOT NULL,
	"transaction" "xid8" DEFAULT pg_current_xact_id() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "housekeeping" (
	"id" integer PRIMARY KEY NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL
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
CREATE TABLE "identities" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "identities_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account_id" bigint NOT NULL,
	"provider" text NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"email" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"added_by" uuid
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "invitations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"uuid" uuid NOT NULL,
	"hash" "bytea" NOT NULL,
	"role_id" integer,
	"groups" jsonb NOT NULL,
	"domain" text,
	"uses" integer NOT NULL,
	"used" integer DEFAULT 0 NOT NULL,
	"note" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone,
	"creator_type" text NOT NULL,
	"creator_id" text,
	"creator_name" text,
	CONSTRAINT "invitations_uuid_unique" UNIQUE("uuid"),
	CONSTRAINT "invitations_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "known_devices" (
	"account_id" bigint NOT NULL,
	"tag" "bytea" NOT NULL,
	"kind" text NOT NULL,
	"sign_in" integer NOT NULL,
	"last_sign_in_at" timestamp (3) with time zone NOT NULL,
	"first_sign_in_at" timestamp (3) with time zone,
	CONSTRAINT "known_devices_account_id_tag_pk" PRIMARY KEY("account_id","tag")
);
--> statement-breakpoint
CREATE TABLE "lasting_keys" (
	"label" text PRIMARY KEY NOT NULL,
	"sealed_key" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "limits" (
	"key" text PRIMARY KEY NOT NULL,
	"state" jsonb NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "messages_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"channel" text NOT NULL,
	"destination" text NOT NULL,
	"purpose" text NOT NULL,
	"language" text NOT NULL,
	"values" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"code_subject" uuid,
	"code_purpose" text,
	"code_group" text DEFAULT 'stranger' NOT NULL,
	"code_seed" "bytea",
	"lane" smallint DEFAULT 0 NOT NULL,
	"request_id" text,
	"account_uuid" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"first_attempt_at" timestamp (3) with time zone,
	"next_attempt_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"outcome" text,
	"detail" text,
	"reply" text,
	"gateway" text,
	"provider_id" text,
	"receipt" text,
	"verified_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" bigint NOT NULL,
	"credential_id" text NOT NULL,
	"public_key" "bytea" NOT NULL,
	"user_handle" "bytea" NOT NULL,
	"counter" bigint NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"backup_eligible" boolean NOT NULL,
	"backed_up" boolean NOT NULL,
	"transports" jsonb NOT NULL,
	"aaguid" text NOT NULL,
	"rp_id" text NOT NULL,
	"added_by_session" uuid,
	"proved" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"account_id" bigint PRIMARY KEY NOT NULL,
	"hashes" "bytea"[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refused_addresses" (
	"tag" "bytea" PRIMARY KEY NOT NULL,
	"refused_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "registration_claims" (
	"contact" text NOT NULL,
	"address" text NOT NULL,
	"password_tag" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "registration_claims_contact_address_password_tag_pk" PRIMARY KEY("contact","address","password_tag")
);
--> statement-breakpoint
CREATE TABLE "relocations" (
	"id" integer PRIMARY KEY NOT NULL,
	"moved_to" text NOT NULL,
	"moved_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "replaced_contacts" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "replaced_contacts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"destination" text NOT NULL,
	"destination_key" text NOT NULL,
	"verified_at" timestamp (3) with time zone NOT NULL,
	"replaced_at" timestamp (3) with time zone NOT NULL,
	"session_id" uuid NOT NULL,
	"known_client" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "server_secrets" (
	"id" text PRIMARY KEY NOT NULL,
	"current_at" timestamp (3) with time zone,
	"current_since" timestamp (3) with time zone,
	"missing_at" timestamp (3) with time zone,
	"turn_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" bigint NOT NULL,
	"device_type" text,
	"device_name" text,
	"device_os" text,
	"device_fingerprint" text,
	"ip" text,
	"amr" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL,
	"family_hash" "bytea" NOT NULL,
	"generation" integer DEFAULT 0 NOT NULL,
	"rotated_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"sign_in_ip" text,
	"late_retries" timestamp (3) with time zone[],
	"kind" text DEFAULT 'direct' NOT NULL,
	"stays" boolean DEFAULT false NOT NULL,
	"parent_id" uuid,
	"client_id" text,
	"authenticated_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"kid" text PRIMARY KEY NOT NULL,
	"public_jwk" jsonb NOT NULL,
	"sealed_private_jwk" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"signs_from" timestamp (3) with time zone NOT NULL,
	"published_until" timestamp (3) with time zone
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
CREATE TABLE "spent_challenges" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "spent_id_tokens" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "tickets" (
	"key" text PRIMARY KEY NOT NULL,
	"value" jsonb NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "totp_enrolments" (
	"account_id" bigint PRIMARY KEY NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "totp_factors" (
	"account_id" bigint PRIMARY KEY NOT NULL,
	"sealed_secret" "bytea" NOT NULL,
	"confirmed_at" timestamp (3) with time zone NOT NULL,
	"added_by" uuid,
	"last_step" bigint NOT NULL,
	"loss_told_at" timestamp (3) with time zone,
	"recovered_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "trusted_devices" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"account_id" bigint NOT NULL,
	"device_tag" "bytea" NOT NULL,
	"bound" text NOT NULL,
	"session_id" uuid NOT NULL,
	"last_session_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
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
CREATE TABLE "username_keys" (
	"id" integer PRIMARY KEY NOT NULL,
	"key" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usernames" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"account" uuid
);
--> statement-breakpoint
-- Room in each page for the new version of a refreshed row.
ALTER TABLE "sessions" SET (fillfactor = 75);
--> statement-breakpoint
ALTER TABLE "account_codes" ADD CONSTRAINT "account_codes_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "administrator_sessions" ADD CONSTRAINT "administrator_sessions_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "administrators" ADD CONSTRAINT "administrators_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "contact_changes" ADD CONSTRAINT "contact_changes_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "known_devices" ADD CONSTRAINT "known_devices_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "replaced_contacts" ADD CONSTRAINT "replaced_contacts_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "totp_enrolments" ADD CONSTRAINT "totp_enrolments_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "totp_factors" ADD CONSTRAINT "totp_factors_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trusted_devices" ADD CONSTRAINT "trusted_devices_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "two_factor_removals" ADD CONSTRAINT "two_factor_removals_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "undo_links" ADD CONSTRAINT "undo_links_replaced_id_replaced_contacts_id_fk" FOREIGN KEY ("replaced_id") REFERENCES "public"."replaced_contacts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usernames" ADD CONSTRAINT "usernames_account_accounts_uuid_fk" FOREIGN KEY ("account") REFERENCES "public"."accounts"("uuid") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "account_codes_id" ON "account_codes" USING btree ("id");--> statement-breakpoint
CREATE INDEX "account_codes_expires_at" ON "account_codes" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_email_proved" ON "accounts" USING btree ("email_key") WHERE "accounts"."email_confirmed_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_phone_proved" ON "accounts" USING btree ("phone") WHERE "accounts"."phone_confirmed_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_waiting_for" ON "accounts" USING btree ("waiting_for") WHERE "accounts"."waiting_for" is not null;--> statement-breakpoint
CREATE INDEX "accounts_email_prefix" ON "accounts" USING btree ("email_key" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "accounts_phone_prefix" ON "accounts" USING btree ("phone" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "accounts_parts" ON "accounts" USING gin (account_trigrams(account_search_text("email_key", "phone", "username", "profile"))) WITH (gin_pending_list_limit=256);--> statement-breakpoint
-- Statistics of its expression would take five times as long as those of the whole table, and no other index serves instead.
ALTER INDEX "accounts_parts" ALTER COLUMN 1 SET STATISTICS 0;--> statement-breakpoint
CREATE INDEX "accounts_locked" ON "accounts" USING btree ("id") WHERE "accounts"."locked_at" is not null;--> statement-breakpoint
CREATE INDEX "accounts_role" ON "accounts" USING btree ("role_id","id");--> statement-breakpoint
CREATE INDEX "accounts_created" ON "accounts" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "accounts_email_claims" ON "accounts" USING btree ("email_key","id") WHERE "accounts"."email_confirmed_at" is null and "accounts"."account_confirmed_at" is not null;--> statement-breakpoint
CREATE INDEX "accounts_phone_claims" ON "accounts" USING btree ("phone","id") WHERE "accounts"."phone_confirmed_at" is null and "accounts"."account_confirmed_at" is not null;--> statement-breakpoint
CREATE INDEX "accounts_email_registrations" ON "accounts" USING btree ("email_key","id") WHERE "accounts"."account_confirmed_at" is null;--> statement-breakpoint
CREATE INDEX "accounts_phone_registrations" ON "accounts" USING btree ("phone","id") WHERE "accounts"."account_confirmed_at" is null;--> statement-breakpoint
CREATE INDEX "accounts_email_made" ON "accounts" USING btree ("email_key") WHERE "accounts"."origin" is not null;--> statement-breakpoint
CREATE INDEX "accounts_phone_made" ON "accounts" USING btree ("phone") WHERE "accounts"."origin" is not null;--> statement-breakpoint
CREATE INDEX "accounts_unconfirmed" ON "accounts" USING btree ("created_at") WHERE "accounts"."account_confirmed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "administration_tokens_hash" ON "administration_tokens" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "administration_tokens_creator" ON "administration_tokens" USING btree ("creator_id");--> statement-breakpoint
CREATE INDEX "administration_tokens_expires_at" ON "administration_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "administrator_sessions_cookie_hash" ON "administrator_sessions" USING btree ("cookie_hash");--> statement-breakpoint
CREATE INDEX "authorization_codes_session" ON "authorization_codes" USING btree ("session_id","application");--> statement-breakpoint
CREATE INDEX "code_budgets_day" ON "code_budgets" USING btree ("day");--> statement-breakpoint
CREATE INDEX "code_failures_last_day" ON "code_failures" USING btree ("last_day");--> statement-breakpoint
CREATE INDEX "codes_expires_at" ON "codes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "early_receipts_received_at" ON "early_receipts" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "event_details_failure_key" ON "event_details" USING btree ("failure_key") WHERE "event_details"."failure_key" is not null;--> statement-breakpoint
CREATE INDEX "events_account" ON "events" USING btree ("account","id");--> statement-breakpoint
CREATE INDEX "events_type" ON "events" USING btree ("type","id");--> statement-breakpoint
CREATE INDEX "events_created_at" ON "events" USING brin ("created_at");--> statement-breakpoint
CREATE INDEX "events_transaction" ON "events" USING btree ("transaction","id");--> statement-breakpoint
CREATE INDEX "events_actor" ON "events" USING btree ("actor_id","id") WHERE "events"."actor_type" <> 'account';--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "identities_issuer_subject" ON "identities" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "identities_account" ON "identities" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "invitations_expires_at" ON "invitations" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "known_devices_last_sign_in_at" ON "known_devices" USING btree ("last_sign_in_at");--> statement-breakpoint
CREATE INDEX "limits_expires_at" ON "limits" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "messages_due" ON "messages" USING btree ("channel","lane","next_attempt_at") WHERE "messages"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "messages_unverified" ON "messages" USING btree ("code_subject","code_purpose") WHERE "messages"."gateway" is not null and "messages"."verified_at" is null;--> statement-breakpoint
CREATE INDEX "messages_provider_id" ON "messages" USING btree ("gateway","provider_id") WHERE "messages"."provider_id" is not null;--> statement-breakpoint
CREATE INDEX "messages_code" ON "messages" USING btree ("code_subject","code_purpose") WHERE "messages"."outcome" is null;--> statement-breakpoint
CREATE INDEX "messages_account" ON "messages" USING btree (coalesce("account_uuid", "code_subject"),"id");--> statement-breakpoint
CREATE INDEX "messages_finished" ON "messages" USING btree ("finished_at") WHERE "messages"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX "messages_destination" ON "messages" USING btree (lower("destination")) WHERE "messages"."destination" <> '';--> statement-breakpoint
CREATE UNIQUE INDEX "passkeys_credential_id" ON "passkeys" USING btree ("credential_id");--> statement-breakpoint
CREATE INDEX "passkeys_account" ON "passkeys" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "refused_addresses_refused_at" ON "refused_addresses" USING btree ("refused_at");--> statement-breakpoint
CREATE INDEX "registration_claims_created_at" ON "registration_claims" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "replaced_contacts_account" ON "replaced_contacts" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "replaced_contacts_replaced_at" ON "replaced_contacts" USING btree ("replaced_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_family_hash" ON "sessions" USING btree ("family_hash");--> statement-breakpoint
CREATE INDEX "sessions_account" ON "sessions" USING btree ("account_id","device_fingerprint");--> statement-breakpoint
CREATE INDEX "sms_prefixes_day" ON "sms_prefixes" USING btree ("day");--> statement-breakpoint
CREATE INDEX "spent_challenges_expires_at" ON "spent_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "spent_id_tokens_expires_at" ON "spent_id_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "tickets_expires_at" ON "tickets" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "trusted_devices_account" ON "trusted_devices" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "trusted_devices_expires_at" ON "trusted_devices" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "two_factor_removals_id" ON "two_factor_removals" USING btree ("id");--> statement-breakpoint
CREATE INDEX "two_factor_removals_due_at" ON "two_factor_removals" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "undo_links_replaced" ON "undo_links" USING btree ("replaced_id");--> statement-breakpoint
CREATE INDEX "usernames_account" ON "usernames" USING btree ("account");
--> statement-breakpoint
-- The state of a counter of failures that refuses until "until_ms".
CREATE FUNCTION "limits_refused"("rule" jsonb, "level" int, "until_ms" bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('level', "level", 'until', "until_ms", 'ends', "until_ms" + ("rule" ->> 'windowMs')::bigint)
$$;
--> statement-breakpoint
-- One rule on one counter: the wait, the state with this charge counted, and the state mended if the clock was set back
-- (or the rule's numbers were lowered), which a refusal must write, or the wait it gives would not come true.
-- The rules are in src/domain/limits/limits/store.ts, the states in charge.ts, the same in Lua in store-redis.ts.
CREATE FUNCTION "limits_evaluate"("rule" jsonb, "state" jsonb, "now_ms" bigint,
                                  OUT "wait_ms" bigint, OUT "counted" jsonb, OUT "mended" jsonb)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  "window_ms" bigint := ("rule" ->> 'windowMs')::bigint;
  "count" bigint := ("rule" ->> 'count')::bigint;
  "burst" bigint := ("rule" ->> 'burst')::bigint;
  "interval_ms" bigint := ("rule" ->> 'intervalMs')::bigint;
  "refusal_ms" numeric := ("rule" ->> 'refusalMs')::numeric;
  "maximum_ms" numeric := ("rule" ->> 'maximumMs')::numeric;
  "level" int := coalesce(("state" ->> 'level')::int, 0);
  "until_ms" bigint := ("state" ->> 'until')::bigint;
  "latest_ms" bigint;
  "full_ms" bigint;
  "ahead_ms" bigint;
  "n" bigint;
  "ends_ms" bigint;
BEGIN
  "wait_ms" := 0;
  IF "rule" ->> 'kind' = 'bucket' THEN
    "ahead_ms" := greatest(("state" ->> 'at')::bigint - "now_ms", 0);
    "latest_ms" := "now_ms" + "burst" * "interval_ms";
    "full_ms" := greatest(("state" ->> 'full')::bigint - "ahead_ms", "now_ms");
    IF "ahead_ms" > 0 OR "full_ms" > "latest_ms" THEN
      "full_ms" := least("full_ms", "latest_ms");
      "mended" := jsonb_build_object('full', "full_ms", 'at', "now_ms", 'ends', "full_ms");
    END IF;
    "wait_ms" := greatest("full_ms" - "now_ms" - ("burst" - 1) * "interval_ms", 0);
    "full_ms" := "full_ms" + "interval_ms";
    "counted" := jsonb_build_object('full', "full_ms", 'at', "now_ms", 'ends', "full_ms");
    RETURN;
  END IF;

  IF "rule" ->> 'kind' = 'failures' AND "level" > 0 THEN
    "latest_ms" := "now_ms" + least("refusal_ms" * 2::numeric ^ ("level" - 1), "maximum_ms");
    IF "until_ms" > "latest_ms" THEN
      "until_ms" := "latest_ms";
      "mended" := "limits_refused"("rule", "level", "until_ms");
    END IF;
    IF "now_ms" < "until_ms" + "window_ms" THEN
      "wait_ms" := greatest("until_ms" - "now_ms", 0);
      "level" := least("level" + 1, 40);
      "latest_ms" := "now_ms" + least("refusal_ms" * 2::numeric ^ ("level" - 1), "maximum_ms");
      "counted" := "limits_refused"("rule", "level", "latest_ms");
      RETURN;
    END IF;
    "state" := '{}';
  END IF;

  "n" := coalesce(("state" ->> 'n')::bigint, 0);
  "ends_ms" := ("state" ->> 'ends')::bigint;
  IF "n" = 0 OR "ends_ms" <= "now_ms" THEN
    "n" := 0;
    "ends_ms" := "now_ms" + "window_ms";
  ELSIF "ends_ms" > "now_ms" + "window_ms" THEN
    "ends_ms" := "now_ms" + "window_ms";
    "mended" := jsonb_build_object('n', "n", 'ends', "ends_ms");
  END IF;
  "counted" := jsonb_build_object('n', "n" + 1, 'ends', "ends_ms");
  IF "rule" ->> 'kind' = 'window' THEN
    IF "n" >= "count" THEN
      "wait_ms" := "ends_ms" - "now_ms";
    END IF;
  ELSIF "n" + 1 >= "count" THEN
    "counted" := "limits_refused"("rule", 1, "now_ms" + least("refusal_ms", "maximum_ms")::bigint);
  END IF;
END
$$;
--> statement-breakpoint
-- Evaluates charges, [{key, rule}, …], and counts them everywhere or nowhere. Gives the milliseconds to wait, 0 when
-- admitted. The locks come first, in one order for everybody, also for counters that do not exist yet: no two callers
-- see the same state, and none wait in a circle. The statement after them sees what their last holders committed.
CREATE FUNCTION "limits_charge"("charges" jsonb, "now_ms" bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  "answer" bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1886348404, "locks"."number")
     FROM (SELECT DISTINCT hashtext("charge" ->> 'key') AS "number"
             FROM jsonb_array_elements("charges") AS "charge" ORDER BY 1) AS "locks";
  WITH "evaluated" AS MATERIALIZED (
    SELECT "charge" ->> 'key' AS "key", "verdict".*
      FROM jsonb_array_elements("charges") AS "charge"
      LEFT JOIN "limits" ON "limits"."key" = "charge" ->> 'key'
     CROSS JOIN LATERAL "limits_evaluate"("charge" -> 'rule', coalesce("limits"."state", '{}'), "now_ms") AS "verdict"
  ), "worst" AS (
    SELECT max("wait_ms") AS "wait_ms" FROM "evaluated"
  ), "written" AS (
    INSERT INTO "limits" ("key", "state", "expires_at")
    SELECT "key", "next", to_timestamp(("next" ->> 'ends')::bigint / 1000.0)
      FROM (SELECT "key", CASE WHEN "worst"."wait_ms" = 0 THEN "counted" ELSE "mended" END AS "next"
              FROM "evaluated", "worst") AS "outcome"
     WHERE "next" IS NOT NULL
     ORDER BY "key"
        ON CONFLICT ("key") DO UPDATE SET "state" = excluded."state", "expires_at" = excluded."expires_at"
  )
  SELECT "wait_ms" INTO "answer" FROM "worst";
  RETURN "answer";
END
$$;
--> statement-breakpoint
-- Events are evidence: they are written once. Only the functions below, which set "poterne.keeps_events", may remove
-- them or renumber their transactions.
CREATE FUNCTION "events_are_kept"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('poterne.keeps_events', true) IS DISTINCT FROM 'off' THEN
    RAISE EXCEPTION 'events are neither changed nor removed';
  END IF;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "events_are_kept" BEFORE UPDATE OR DELETE OR TRUNCATE ON "events"
FOR EACH STATEMENT EXECUTE FUNCTION "events_are_kept"();
--> statement-breakpoint
CREATE FUNCTION "sweep_events"("older_than" timestamptz, "most" integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  "removed" integer;
BEGIN
  PERFORM set_config('poterne.keeps_events', 'off', true);
  WITH "first" AS MATERIALIZED (
    SELECT "id", "created_at" FROM "events" ORDER BY "id" LIMIT "most"
  ), "gone" AS (
    DELETE FROM "events" WHERE "id" IN (SELECT "id" FROM "first" WHERE "created_at" < "older_than")
    RETURNING "id", "type", "account", "created_at"
  ), "forgotten" AS (
    DELETE FROM "event_details" WHERE "event_id" IN (SELECT "id" FROM "gone")
  ), "erased" AS (
    INSERT INTO "erased_accounts" ("uuid", "erased_at")
    SELECT "account", "created_at" FROM "gone" WHERE "type" = 'account.erased' AND "account" IS NOT NULL
    ON CONFLICT DO NOTHING
  )
  SELECT count(*) INTO "removed" FROM "gone";
  PERFORM set_config('poterne.keeps_events', 'on', true);
  RETURN "removed";
END
$$;
--> statement-breakpoint
-- A restored table carries the transaction numbers of the server it comes from, which lie in the future of this one.
CREATE FUNCTION "adopt_restored_events"() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  "adopted" integer;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM "events" WHERE "transaction" >= pg_snapshot_xmax(pg_current_snapshot())) THEN
    RETURN 0;
  END IF;
  PERFORM set_config('poterne.keeps_events', 'off', true);
  UPDATE "events" SET "transaction" = '3' WHERE "transaction" >= pg_snapshot_xmax(pg_current_snapshot());
  GET DIAGNOSTICS "adopted" = ROW_COUNT;
  PERFORM set_config('poterne.keeps_events', 'on', true);
  RETURN "adopted";
END
$$;
--> statement-breakpoint
-- Whatever ends the session of a browser also ends the sessions of the applications below it and their codes.
CREATE FUNCTION "end_sessions_below"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "sessions" SET "revoked_at" = NEW."revoked_at"
   WHERE "account_id" = NEW."account_id" AND "parent_id" = NEW."id" AND "revoked_at" IS NULL;
  DELETE FROM "authorization_codes" WHERE "session_id" = NEW."id" AND "used_at" IS NULL;
  RETURN NULL;
END
$$;
--> statement-breakpoint
CREATE TRIGGER "sessions_end_below" AFTER UPDATE OF "revoked_at" ON "sessions" FOR EACH ROW
  WHEN (NEW."kind" = 'browser' AND OLD."revoked_at" IS NULL AND NEW."revoked_at" IS NOT NULL)
  EXECUTE FUNCTION "end_sessions_below"();
--> statement-breakpoint
INSERT INTO "housekeeping" VALUES (1, to_timestamp(0));
--> statement-breakpoint
INSERT INTO "backups" ("id") VALUES (1);
--> statement-breakpoint
-- Since when no erasure was forgotten.
INSERT INTO "erased_accounts" ("uuid", "erased_at") VALUES ('00000000-0000-0000-0000-000000000000', now());
--> statement-breakpoint
-- 32 bytes, of which 244 bits are random.
INSERT INTO "username_keys" ("id", "key") VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
