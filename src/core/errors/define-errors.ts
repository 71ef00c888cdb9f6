import { invalidDeclaration } from '../declaration-errors.js';

/** One error of the service. Code, status and texts are defined in this row and nowhere else. */
export interface ErrorRow<Code extends string = string> {
  /** The public, machine-readable code: in snake_case, unique in the service. */
  readonly code: Code;
  /** HTTP status, 400 to 599. */
  readonly status: number;
  /** Public message. Parameters of ApiError replace their `{name}` placeholders. */
  readonly message: string;
  /** Sample values of all placeholders, for the examples in the OpenAPI document. */
  readonly example?: Readonly<Record<string, string | number>>;
  /** When it occurs, for the page of errors. */
  readonly cause: string;
  /** What the client should do, for the page of errors. */
  readonly remedy: string;
  /** The remedy on the command line, if `remedy` refers to HTTP requests. */
  readonly command?: string;
}

/** An error row as declared by a feature; its code is the property's name. */
export type ErrorDefinition = Omit<ErrorRow, 'code'>;

const SLUG = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const catalogue = new Map<string, ErrorRow>();

/** Declares the errors of a feature. The service does not start with an invalid code, status or example, or a duplicate code. */
export function defineErrors<Code extends string>(
  definitions: Record<Code, ErrorDefinition>,
): Readonly<Record<Code, ErrorRow<Code>>> {
  const rows = {} as Record<Code, ErrorRow<Code>>;
  for (const code of Object.keys(definitions) as Code[]) {
    const definition = definitions[code];
    const error = (text: string) => invalidDeclaration(`Error code "${code}" ${text}`);
    rows[code] = { code, ...definition };
    if (!SLUG.test(code)) error('is not a lower_snake slug, such as pet_not_found. Rename it.');
    if (!(definition.status >= 400 && definition.status <= 599))
      error(`has the status ${definition.status}. Use a status from 400 to 599.`);
    if (catalogue.has(code)) error('is declared twice. Rename one of them.');
    const { message, example } = definition;
    if (example && placeholdersOf(message).join() !== Object.keys(example).toSorted().join())
      error(
        `has example values for ${Object.keys(example).join(', ') || 'no placeholders'}, but its message has ${placeholdersOf(message).join(', ') || 'no placeholders'}. ` +
          'Give exactly one example value for each placeholder.',
      );
    catalogue.set(code, rows[code]);
  }
  return rows;
}

/** The names of the `{name}` placeholders of a message, without duplicates, in alphabetical order. */
export function placeholdersOf(message: string): string[] {
  const names = [...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return [...new Set(names)].toSorted();
}

/** Whether an error with this code is declared. */
export function isCatalogued(code: string): boolean {
  return catalogue.has(code);
}

/** Every declared error, in alphabetical order of code. */
export function errorCatalogue(): ErrorRow[] {
  return [...catalogue.values()].toSorted((a, b) => (a.code < b.code ? -1 : 1));
}
