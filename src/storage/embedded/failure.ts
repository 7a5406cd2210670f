/** The end of an instance of the embedded database before its time. */

/** The instance can answer nothing more, and the database has to be opened anew. */
export class InstanceEnded extends Error {
  override name = 'InstanceEnded'
}

/** PGlite was changed in such a way that nothing would be flushed. */
export class NeverFlushed extends Error {
  override name = 'NeverFlushed'
  constructor(missing: string) {
    super(`this PGlite does not let files be flushed (${missing}): what is acknowledged could be lost`)
  }
}
