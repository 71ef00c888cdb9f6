/** A database cannot be copied as it is asked for; the message says why and what to do. */
export class CopyRefusal extends Error {}

/** What was copied is not what the file has, and going on does not change that; the message says to copy into an empty database. */
export class CopyMismatch extends CopyRefusal {}
