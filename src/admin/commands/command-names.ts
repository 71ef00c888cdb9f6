import { OPERATION_TABLE } from './operation-table.js';

/** The member of an operation in the OpenAPI document that contains its command's name, such as `toy paint`. */
export const COMMAND_EXTENSION = 'x-command';
/** Group and command; groups of commands that are not API operations are reserved. */
const COMMAND_NAME =
  /^(?!(?:completion|db|doctor|generate|new|openapi|outbox) )[a-z][a-z\d-]* [a-z][a-z\d-]*$/;
const VERBS = new Map(Object.entries({ get: 'list', post: 'create', put: 'replace', patch: 'update' }));

/** The names of the commands for an operation: those in the table, those that it declares, or one derived from its method and path. */
export function commandsFor(
  id: string | undefined,
  declared: string | undefined,
  method: string,
  path: string,
): string[] {
  const ours = Object.entries(OPERATION_TABLE).filter(([, { operation }]) => operation === id);
  return ours.length > 0 ? ours.map(([command]) => command) : [declared ?? defaultCommandName(method, path)];
}

/** Whether a command can have this name. */
export function isCommandName(command: string): boolean {
  return COMMAND_NAME.test(command);
}

/**
 * The command name for a method and a path below `/admin`: `GET /toys` is `toys list`, `GET /toys/{toyId}` is `toys show`, `POST
 * /toys/{toyId}/paint` is `toys paint`, and `GET /toys/{toyId}/parts` is `toys list-parts`.
 */
function defaultCommandName(method: string, path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  // Parameters in the notation of documents or of Express.
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
