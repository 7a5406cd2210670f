/** The servers and databases that poterne can use: the start, doctor and `config check --connect` say it in the same words. */

/** Xid8, with which transactions are numbered, came with it. */
const OLDEST_VERSION = 13

/** `version`: as `server_version_num` has it. */
export function describeOldVersion(version: number): string | null {
  const major = Math.floor(version / 10_000)
  return major >= OLDEST_VERSION
    ? null
    : `PostgreSQL ${major} is too old: upgrade the server to ${OLDEST_VERSION} or later`
}

export function describeForeignEncoding(encoding: string): string | null {
  return encoding === 'UTF8'
    ? null
    : `the encoding is ${encoding}, in which names and addresses are lost: create a database with encoding 'UTF8' and move the data there`
}

/** Returns why poterne cannot make its tables there, or null. SQL_ASCII keeps every byte as it came, so that it can. */
export const describeUnfit = ({ version, encoding }: { version: number; encoding: string }): string | null =>
  describeOldVersion(version) ?? (encoding === 'SQL_ASCII' ? null : describeForeignEncoding(encoding))
