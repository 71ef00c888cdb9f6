import type { OpenAPIObject } from '@nestjs/swagger';
import { writeExactJson } from '../../core/exact-json.js';
import type { OperationObject } from './document-outlines.js';

/** The operations used by examples on pages. */
export interface ExampleOperations {
  /** Path of the first list relative to the API's URL, such as `/pets`. */
  readonly list?: string;
  /** The first POST with an `Idempotency-Key`, and the example of its body as JSON. */
  readonly create?: { readonly path: string; readonly body: string };
}

/** The operations in a document that examples can call without further knowledge. */
export function exampleOperations({ paths, components }: OpenAPIObject): ExampleOperations {
  const plain = Object.entries(paths).filter(([path]) => !path.includes('{'));
  const list = plain.find(([, { get }]) => get && isList(get))?.[0];
  const create = plain.flatMap(([path, { post }]) => {
    const body = post && hasParameter(post, 'Idempotency-Key') ? exampleOf(post, components) : undefined;
    return body === undefined ? [] : { path, body };
  })[0];
  return { ...(list === undefined ? {} : { list }), ...(create ? { create } : {}) };
}

/** Whether an operation is a paginated list without required parameters that is not deprecated. */
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

/** The required members of a JSON body with their examples; undefined if one has none. */
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
