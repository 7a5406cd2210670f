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
