import type { OpenAPIObject } from '@nestjs/swagger';
import type { OperationObject } from '../../src/docs/openapi/document-outlines.js';

type Components = NonNullable<OpenAPIObject['components']>;

/** The relevant parts of a schema. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The schemas for the validation of responses, as openapi-response-validator takes them. */
export interface Responses {
  readonly responses: OperationObject['responses'];
  readonly components: Components | undefined;
}

/**
 * The same schemas, but every object has only the members that are declared, unless its schema says otherwise by
 * `additionalProperties`. An object of several schemas (`allOf`) has the members of all of them.
 */
export function withClosedSchemas({ responses, components }: Responses): Responses {
  const schemas = (components?.schemas ?? {}) as Readonly<Record<string, Schema>>;
  const closed = eachOf(schemas, (schema) => close(schema, schemas));
  return {
    responses: eachOf(responses as Readonly<Record<string, object>>, (response) =>
      withClosedContent(response, schemas),
    ) as unknown as Responses['responses'],
    components: { ...components, schemas: closed as Components['schemas'] & object },
  };
}

function withClosedContent(
  response: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> },
  schemas: Readonly<Record<string, Schema>>,
): object {
  const { content } = response;
  if (!content) return response;
  const closed = eachOf(content, (media) =>
    media.schema ? { ...media, schema: close(media.schema, schemas) } : media,
  );
  return { ...response, content: closed };
}

function close(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const parts = [schema, ...(schema.allOf ?? []).map((part) => resolve(part, schemas))];
  const properties: Readonly<Record<string, Schema>> = Object.assign(
    {},
    ...parts.map((part) => part.properties),
  );
  const saysOtherwise = parts.some(
    ({ additionalProperties, anyOf, oneOf }) => additionalProperties !== undefined || anyOf || oneOf,
  );
  const inside = closeParts(schema, schemas);
  if (Object.keys(properties).length === 0 || saysOtherwise) return inside;
  // A closed part would refuse the members of the other parts.
  const allOf = schema.allOf && { allOf: parts.slice(1).map((part) => closeParts(part, schemas)) };
  return {
    ...inside,
    ...allOf,
    properties: { ...eachOf(properties, () => ({})), ...inside.properties },
    additionalProperties: false,
  };
}

/** Closes the schemas within a schema, but not the object itself. */
function closeParts(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const one = (part: Schema): Schema => close(part, schemas);
  const { properties, items, additionalProperties, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties ? { properties: eachOf(properties, one) } : {}),
    ...(items ? { items: one(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: one(additionalProperties) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(one) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(one) } : {}),
  };
}

function resolve(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  return schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema);
}

function eachOf<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
