/** What a new key is made of. */
export interface NewKey {
  readonly clientId: string;
  /** Absent: those granted by default. */
  readonly scopes?: readonly string[];
  readonly label?: string | null;
  /** Lifetime from now in milliseconds; absent: none. */
  readonly expires?: number;
}

/** What can be changed of a key. */
export interface KeyChanges {
  /** Null takes the label away. */
  readonly label?: string | null;
  /** How long it still lives, in milliseconds; never longer than before. */
  readonly expires?: number;
}

/** How a key is rotated. */
export interface Rotation {
  /** How long the old key still lives, in milliseconds; never longer than its own expiry. */
  readonly grace: number;
  /** Lifetime of the new key in milliseconds; absent: as long as the old one was made for. */
  readonly expires?: number;
}

/** Whether what is asked for is done although it ends the last key of a protected scope. */
export interface Forcible {
  readonly force?: boolean;
}
