/** A command of an operator that cannot be carried out; the message says why and what would do. */
export class RefusedCommand extends Error {}
