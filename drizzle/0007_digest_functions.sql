CREATE FUNCTION "digest_family"("digest" text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN "digest" ~ '^\$2[aby]\$(0[4-9]|1[0-4])\$' THEN 'bcrypt'
    WHEN "digest" ~ '^\$argon2' THEN substring("digest" from '^\$(argon2[id]{1,2}\$v=19\$[a-z0-9=,]{1,60})\$')
    ELSE rtrim(regexp_replace(substring("digest" from '^\$([a-z][a-z0-9-]{0,40}\$[a-z0-9=,]{1,60})\$'), '\$n=\d+,?', '$'), '$')
  END
$$;
--> statement-breakpoint
CREATE FUNCTION "digest_number"("digest" text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(
    substring("digest" from '^\$2[aby]\$(\d\d)\$'),
    substring("digest" from '^\$[a-z][a-z0-9-]{0,40}\$n=(\d{1,9})[,$]'),
    '0')::integer
$$;
