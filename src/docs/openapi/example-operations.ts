import type { OpenAPIObject } from '@nestjs/swagger';
import { writeExactJson } from '../../core/exact-json.js';
import type { OperationObject } from './document-outlines.js';

/** The operations that examples on pages call. */
export interface ExampleOperations {
  /** Path of the first list below the address of the API, such as `/pets`. */
  readonly list?: string;
  /** The first POST that takes an `Idempotency-Key`, and the example of its body as JSON. */
  readonly create?: { readonly path: string; readonly body: string };
}

/** The operations of a document that examples can call without knowing more than the document. */
export function exampleOperations({ paths, components }: OpenAPIObject): ExampleOperations {
  const plain = Object.entries(paths).filter(([path]) => !path.includes('{'));
  const list = plain.find(([, { get }]) => get && isList(get))?.[0];
  const create = plain.flatMap(([path, { post }]) => {
    const body = post && hasParameter(post, 'Idempotency-Key') ? exampleOf(post, components) : undefined;
    return body === undefined ? [] : { path, body };
  })[0];
  return { ...(list === undefined ? {} : { list }), ...(create ? { create } : {}) };
}

/** Whether an operation is a page of a list for which a client needs to send nothing, and which stays. */
function isList(operation: OperationObject): boolean {
  if (operation.deprecated === true) return false;
  const needsNoParameters = (operation.parameters ?? []).every(
    (one) => '$ref' in one || one.required !== true,
  );
  return needsNoParameters && hasParameter(operation, 'limit') && hasParameter(operation, 'cursor');
}

function hasParameter({ parameters = [] }: OperationObject, name: string): boolean {
  return parameters.some((one) => 'name' in one && one.name === name);
}

/** The required members of a JSON body with their examples; undefined where one has none. */
function exampleOf(
  { requestBody: body }: OperationObject,
  components: OpenAPIObject['components'],
): string | undefined {
  const schema = body && 'content' in body ? body.content['application/json']?.schema : undefined;
  const named =
    schema && '$ref' in schema ? components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''] : schema;
  if (!named || '$ref' in named || !named.properties) return undefined;
  const { properties, required = [] } = named;
  const members = required.map((name) => {
    const member = properties[name];
    return [name, member && 'example' in member ? (member.example as unknown) : undefined] as const;
  });
  return members.some(([, value]) => value === undefined)
    ? undefined
    : writeExactJson(Object.fromEntries(members));
}
