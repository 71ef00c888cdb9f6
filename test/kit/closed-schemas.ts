import type { OpenAPIObject } from '@nestjs/swagger';
import type { OperationObject } from '../../src/docs/openapi/document-outlines.js';

type Components = NonNullable<OpenAPIObject['components']>;

/** The relevant parts of a schema. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly nullable?: boolean;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The schemas of responses, in the form that openapi-response-validator expects. */
export interface Responses {
  readonly responses: OperationObject['responses'];
  readonly components: Components | undefined;
}

type Schemas = Readonly<Record<string, Schema>>;

/** Suffix of the copy of a component that is not closed, to be used in `allOf`. */
const PART = '.part';

/**
 * Closes all schemas: objects may have only the members that are declared, unless the schema sets `additionalProperties`. An object composed
 * of several schemas (`allOf`) may have the members of all of them.
 */
export function withClosedSchemas({ responses, components }: Responses): Responses {
  const schemas = (components?.schemas ?? {}) as Schemas;
  const closed = eachOf(schemas, (schema) => close(schema, schemas));
  const parts = Object.entries(schemas).map(([name, schema]) => [name + PART, closeParts(schema, schemas)]);
  return {
    responses: eachOf(responses as Readonly<Record<string, object>>, (response) =>
      withClosedContent(response, schemas),
    ) as unknown as Responses['responses'],
    components: {
      ...components,
      schemas: { ...closed, ...Object.fromEntries(parts) } as Components['schemas'] & object,
    },
  };
}

function withClosedContent(
  response: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> },
  schemas: Schemas,
): object {
  const { content } = response;
  if (!content) return response;
  const closed = eachOf(content, (media) =>
    media.schema ? { ...media, schema: close(media.schema, schemas) } : media,
  );
  return { ...response, content: closed };
}

function close(schema: Schema, schemas: Schemas): Schema {
  const { nullable, allOf, anyOf, oneOf } = schema;
  // The validator does not accept null for a schema with allOf, anyOf or oneOf, even if it is nullable.
  if (nullable === true && (allOf ?? anyOf ?? oneOf)) {
    const { nullable: _, ...others } = schema;
    return { anyOf: [close(others, schemas), { type: 'null' } as Schema] };
  }
  const parts = partsOf(schema, schemas);
  const properties: Readonly<Record<string, Schema>> = Object.assign(
    {},
    ...parts.map((part) => part.properties),
  );
  const isOpen = parts.some((part) => part.additionalProperties !== undefined || part.anyOf || part.oneOf);
  const inside = closeParts(schema, schemas);
  if (Object.keys(properties).length === 0 || isOpen) return inside;
  return {
    ...inside,
    properties: { ...eachOf(properties, () => ({})), ...inside.properties },
    additionalProperties: false,
  };
}

/** A schema and, recursively, the schemas in its `allOf`. Each is included only once, because a schema may refer to itself. */
function partsOf(schema: Schema, schemas: Schemas, found = new Set<Schema>()): readonly Schema[] {
  const own = resolve(schema, schemas);
  if (!found.has(own)) {
    found.add(own);
    for (const part of own.allOf ?? []) partsOf(part, schemas, found);
  }
  return [...found];
}

/** Closes the schemas within a schema, but neither the object itself nor the schemas in its `allOf`. */
function closeParts(schema: Schema, schemas: Schemas): Schema {
  const one = (part: Schema): Schema => close(part, schemas);
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties ? { properties: eachOf(properties, one) } : {}),
    ...(items ? { items: one(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: one(additionalProperties) } : {}),
    ...(allOf ? { allOf: allOf.map((part) => asPart(part, schemas)) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(one) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(one) } : {}),
  };
}

/** An open schema for use in `allOf`: a closed one would reject the members of the other schemas. */
function asPart(part: Schema, schemas: Schemas): Schema {
  return part.$ref === undefined ? closeParts(part, schemas) : { $ref: part.$ref + PART };
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema);
}

function eachOf<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
