/** A failure that no other start or try mends, such as a database that refuses this version: a command ends with 2. */
export class LastingFailure extends Error {
  override name = 'LastingFailure'
}
