/** Says in one line for people why a backup cannot be made or used: `backup.poterne is damaged`. */
export class BackupRefused extends Error {
  override name = 'BackupRefused'

  /** `subject`: what it is about, where that is not the backup itself. */
  constructor(
    readonly reason: string,
    readonly subject?: string,
  ) {
    super(subject === undefined ? reason : `${subject} ${reason}`)
  }

  /** Puts the name of the backup in front. */
  describe(file: string): string {
    return this.subject === undefined ? `${file} ${this.reason}` : this.message
  }
}

const FULL = /^(ENOSPC|EDQUOT|EFBIG)$/

/** `path`: a directory or a file, where it is not the backup itself. */
export function cannotWrite(error: unknown, path?: string): BackupRefused {
  const { code = 'unknown cause' } = error as NodeJS.ErrnoException
  return new BackupRefused(
    FULL.test(code)
      ? `cannot be written to (${code}): make space on its disk`
      : `cannot be written to (${code})`,
    path,
  )
}
