/** Who the administrators are that events name: PostgreSQL, in every storage shape. */
export interface AuditTrailStore {
  /** What accounts are called, by their uuids; those that are gone are left out. */
  findNames(uuids: string[]): Promise<Map<string, string>>
}
