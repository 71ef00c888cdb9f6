/** A command cannot be executed; the message says why and what to do. */
export class Refusal extends Error {}
