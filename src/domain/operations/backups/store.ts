/** Whose turn a scheduled backup is, and how the last ones went: one row in PostgreSQL, in every shape. */

export interface BackupState {
  /** The scheduled time that a replica took on last. */
  takenFor: Date | null
  lastSuccessAt: Date | null
  lastFailureAt: Date | null
  lastFailure: string | null
  /** Of the last one that succeeded. */
  lastWarning: string | null
}

export interface FinishedBackup {
  /** The name of the file; null: standard output. */
  file: string | null
  bytes: number
  rows: number
  /** What the operator should know of it, although it is good. */
  warning?: string | null | undefined
}

export interface BackupStore {
  getState(): Promise<BackupState>
  /** True for one caller among all replicas. */
  claimTurn(dueAt: Date): Promise<boolean>
  /** For the one who claimed it and could not finish. */
  giveBackTurn(dueAt: Date): Promise<void>
  /** With the event `backup.created`. */
  noteSuccess(backup: FinishedBackup, at: Date): Promise<void>
  /** With the event `backup.failed`. */
  noteFailure(cause: string, at: Date): Promise<void>
}
