/** The settings of every connection. No role, database or server then changes how a value is read or a statement works. */

/**
 * `default_transaction_read_only` is left alone, since a move closes a database by it. So are the path of schemas, the
 * role, and what only makes statements faster or slower.
 */
const OURS = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, DMY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  // With anything above, PostgreSQL leaves out rows that an index of this kind finds.
  gin_fuzzy_search_limit: '0',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // Foreign keys and triggers rest on it. Only a superuser may set it: for others the start fails, and names it.
  session_replication_role: 'origin',
  plan_cache_mode: 'auto',
  check_function_bodies: 'on',
  exit_on_error: 'off',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
}

const NAMES = new Set(
  [...Object.keys(OURS), 'statement_timeout', 'enable_seqscan', 'jit'].map((name) => name.toLowerCase()),
)

/** Tells whether a setting that somebody gives a connection would be overwritten. */
export const isSetByUs = (setting: string): boolean => NAMES.has(setting.toLowerCase())

/**
 * A statement without parameters, sent after connecting: a pooler refuses connections that ask for settings which it
 * does not know. It sets what differs, and passes over what this version of PostgreSQL does not have.
 */
export function settingsSql(others: Record<string, string>): string {
  const rows = Object.entries({ ...OURS, ...others }).map(([name, value]) => `('${name}', '${value}')`)
  return `select set_config(name, value, false) from (values ${rows.join(', ')}) as wanted (name, value)
           where current_setting(name, true) <> value`
}
