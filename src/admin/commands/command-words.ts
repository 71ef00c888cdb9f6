import { OPERATION_TABLE } from './operation-table.js';

/** The member of an operation in the OpenAPI document that has the words of its command, such as `toy paint`. */
export const COMMAND_WORDS = 'x-command';
/** Group and command; the first words of commands that are no operations are taken. */
const WORDS = /^(?!(?:completion|db|doctor|generate|new|openapi|outbox) )[a-z][a-z\d-]* [a-z][a-z\d-]*$/;
const VERBS = new Map(Object.entries({ get: 'list', post: 'create', put: 'replace', patch: 'update' }));

/** The words of the commands for an operation: those of the table, those that it declares, or those of its method and path. */
export function commandsFor(
  id: string | undefined,
  declared: string | undefined,
  method: string,
  path: string,
): string[] {
  const ours = Object.entries(OPERATION_TABLE).filter(([, { operation }]) => operation === id);
  return ours.length > 0 ? ours.map(([words]) => words) : [declared ?? wordsOf(method, path)];
}

/** Whether a command can have these words. */
export function areWords(words: string): boolean {
  return WORDS.test(words);
}

/**
 * The words of a method and a path below `/admin`: `GET /toys` is `toys list`, `GET /toys/{toyId}` is `toys show`, `POST
 * /toys/{toyId}/paint` is `toys paint`, and `GET /toys/{toyId}/parts` is `toys list-parts`.
 */
function wordsOf(method: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  // Parameters as in documents, and as in Express.
  const isOfOne = /^[{:*]/.test(segments.at(-1) ?? '');
  const [group = '', ...rest] = segments.filter((segment) => !/^[{:*]/.test(segment)).map(kebab);
  const isAction = method === 'post' && rest.length > 0 && !isOfOne;
  const verb = method === 'get' && isOfOne ? 'show' : (VERBS.get(method) ?? method);
  return `${group} ${[...(isAction ? [] : [verb]), ...rest].join('-')}`;
}

/** A name in lower case with hyphens. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');
}
