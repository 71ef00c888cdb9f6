/** One refusal of the service: everything that is known of it stands in this row and nowhere else. */
export interface ErrorRow<Code extends string = string> {
  /** The public, machine-readable code: a lower_snake slug, unique in the service. */
  readonly code: Code;
  /** HTTP status, 400 to 599. */
  readonly status: number;
  /** Public text. `{name}` is replaced by the parameter of that name given to ApiError. */
  readonly message: string;
  /** When it is answered, for docs/errors.md. */
  readonly cause: string;
  /** What the client does next, for docs/errors.md. */
  readonly remedy: string;
}

/** An error row as a feature writes it: the code is the key that it stands under. */
export type ErrorDefinition = Omit<ErrorRow, 'code'>;

const SLUG = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const catalogue = new Map<string, ErrorRow>();

/**
 * Declares the error codes that a feature owns and adds them to the service's catalogue.
 * Throws when a code is no lower_snake slug, its status is no error status, or another feature already
 * declared it: a clash stops the start.
 */
export function defineErrors<Code extends string>(
  definitions: Record<Code, ErrorDefinition>,
): Readonly<Record<Code, ErrorRow<Code>>> {
  const rows = {} as Record<Code, ErrorRow<Code>>;
  for (const code of Object.keys(definitions) as Code[]) {
    const definition = definitions[code];
    if (!SLUG.test(code)) throw new Error(`Error code "${code}" is not a lower_snake slug.`);
    if (!(definition.status >= 400 && definition.status <= 599)) {
      throw new Error(`Error code "${code}" has status ${definition.status}; an error's is 400 to 599.`);
    }
    if (catalogue.has(code)) throw new Error(`Error code "${code}" is declared twice.`);
    rows[code] = { code, ...definition };
    catalogue.set(code, rows[code]);
  }
  return rows;
}

/** Every error row declared so far, by code in alphabetical order. */
export function errorCatalogue(): ErrorRow[] {
  return [...catalogue.values()].toSorted((a, b) => (a.code < b.code ? -1 : 1));
}
