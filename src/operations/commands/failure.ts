/** Thrown by a command that cannot do its work: a message for people and an exit code for programs. */

/** 1: it failed; 2: wrong usage or configuration; 3: it did what it should, and the answer is no. */
type FailureExitCode = 1 | 2 | 3

/** The message is printed as it is, so it must not hold a secret; an empty one prints nothing. */
export class CommandFailure extends Error {
  readonly exitCode: FailureExitCode

  constructor(exitCode: FailureExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
