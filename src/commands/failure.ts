/** How a command ends when it cannot do its work: one message for people, one exit code for programs. */

/** 1: it failed; 2: wrong usage or configuration. */
export type FailureExitCode = 1 | 2

/** The message is printed as it is and holds no secret; an empty one prints nothing. */
export class CommandFailure extends Error {
  readonly exitCode: FailureExitCode

  constructor(exitCode: FailureExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
