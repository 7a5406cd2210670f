/** Whose turn a scheduled backup is, and how the last ones went: one row in PostgreSQL, in every shape. */

export interface BackupState {
  lastSuccessAt: Date | null
  lastFailureAt: Date | null
  lastFailure: string | null
}

export interface FinishedBackup {
  /** The name of the file; null: standard output. */
  file: string | null
  bytes: number
  rows: number
}

export interface BackupStore {
  getState(): Promise<BackupState>
  /** True for one caller among all replicas. */
  claimTurn(dueAt: Date): Promise<boolean>
  /** With the event `backup.created`. */
  noteSuccess(backup: FinishedBackup, at: Date): Promise<void>
  /** With the event `backup.failed`. */
  noteFailure(cause: string, at: Date): Promise<void>
}
