// The error classes of the typed client: one for each code that the examples of the documents name.

/** Names that the core of the client has already. */
const TAKEN = new Set([
  'PetstoreClientError',
  'PetstoreError',
  'ConnectionError',
  'TimeoutError',
  'UnexpectedResponseError',
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
]);

/** The text of the classes for documents of a service, with the map from code to class. Throws when two codes make one name. */
export function errorClasses(documents) {
  const rows = codesOf(documents);
  const names = rows.map(({ code }) => classNameOf(code));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`Two codes would have the class ${twice}.`);
  return [
    `import { PetstoreError, type RefusalClass } from '../errors.js';`,
    ...rows.map(
      ({ code, status, cause }) =>
        `\n/** ${status} \`${code}\`. ${cause.replaceAll('*/', '* /')} */\n` +
        `export class ${classNameOf(code)} extends PetstoreError {\n` +
        `  declare readonly code: '${code}';\n` +
        `  override readonly name: string = '${classNameOf(code)}';\n` +
        `}`,
    ),
    '',
    '/** The class of every code. */',
    `export const ERROR_CLASSES: Readonly<Record<string, RefusalClass>> = {`,
    ...rows.map(({ code }) => `  ${code}: ${classNameOf(code)},`),
    '};',
    '',
  ].join('\n');
}

/** The codes that the examples of refusals name, in alphabetical order, each with its status and cause. */
function codesOf(documents) {
  const rows = new Map();
  for (const { paths, components } of documents)
    for (const item of Object.values(paths))
      for (const operation of Object.values(item))
        for (const [status, response] of Object.entries(operation.responses ?? {})) {
          const { content } = response.$ref
            ? components.responses[response.$ref.split('/').at(-1)]
            : response;
          for (const [name, { summary, value }] of Object.entries(
            content?.['application/json']?.examples ?? {},
          ))
            if (status >= '400' && value?.code === name && /^[a-z]\w*$/.test(name))
              rows.set(name, { code: name, status, cause: summary ?? '' });
        }
  return [...rows.values()].toSorted((a, b) => (a.code < b.code ? -1 : 1));
}

/** `pet_not_found` is PetNotFoundError, `internal_error` InternalError. */
function classNameOf(code) {
  const words = code.replace(/_error$/, '').split('_');
  const name = `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Error`;
  return TAKEN.has(name) ? `Refused${name}` : name;
}
