/** A command that cannot be carried out, for a reason that only the command line has. */
export class Refusal extends Error {}
