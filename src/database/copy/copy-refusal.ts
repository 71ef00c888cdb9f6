/** A database cannot be copied as it is asked for; the message says why and what to do. */
export class CopyRefusal extends Error {}
