-- Charges as limits_charge does, and gives the states of the counters as well: its locks last until both are done.
CREATE FUNCTION "limits_charge_and_read"("charges" jsonb, "now_ms" bigint, OUT "wait_ms" bigint, OUT "states" jsonb)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  "wait_ms" := "limits_charge"("charges", "now_ms");
  SELECT coalesce(jsonb_object_agg("key", "state"), '{}') INTO "states" FROM "limits"
   WHERE "key" = ANY (ARRAY(SELECT "charge" ->> 'key' FROM jsonb_array_elements("charges") AS "charge"));
END
$$;
