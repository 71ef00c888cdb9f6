// The table of operations of the typed client: how each is called, and where its bodies hold integers of 64 bits.
import { answerSchema, bodySchema, operationsOf, schemaNamed } from './reduced-document.mjs';

/** The text of the table for a reduced document. */
export function operationTable(document) {
  const { schemas } = document.components;
  const shapes = Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const shape = shapeOf(schema, schemas);
      return shape === undefined ? [] : [[name, shape]];
    }),
  );
  const rows = operationsOf(document).map(({ method, path, operation }) => [
    operation.operationId,
    rowOf(method, path, operation, schemas),
  ]);
  return [
    `import type { Operation } from '../operation.js';`,
    `import type { Shape } from '../json/shape.js';`,
    '',
    '/** Where each schema holds integers of 64 bits; those that hold none are left out. */',
    `export const SHAPES: Readonly<Record<string, Shape>> = ${JSON.stringify(shapes, null, 2)};`,
    '',
    '/** Every operation by its operationId. */',
    `export const OPERATIONS = ${JSON.stringify(Object.fromEntries(rows), null, 2)} as const satisfies Readonly<Record<string, Operation>>;`,
    '',
  ].join('\n');
}

function rowOf(method, path, operation, schemas) {
  const [body, answer] = [bodySchema(operation), answerSchema(operation)];
  const named = (test) => operation.parameters.filter(test).map(({ name }) => name);
  return {
    method: method.toUpperCase(),
    path,
    isIdempotent: operation['x-idempotent'] === true,
    heldBackBy: boundsOf(operation['x-uncounted']),
    int64Parameters: named(({ schema }) =>
      [schema, schema.items ?? {}].some((one) => shapeOf(one, schemas) === 'int64'),
    ),
    commaParameters: named(({ in: place, explode }) => place === 'query' && explode === false),
    headerParameters: named(({ in: place }) => place === 'header'),
    body: (body && shapeOf(body, schemas)) ?? null,
    hasAnswer: answer !== undefined,
    answer: (answer && shapeOf(answer, schemas)) ?? null,
  };
}

/** The bounds whose refusals hold an operation back: the quota, or the one of its own; and the ban of a key, unless it is answered. */
function boundsOf(uncounted) {
  if (!uncounted) return ['quota', 'ban'];
  const own = `${uncounted.perMinute} per ${uncounted.per}`;
  return uncounted.refusesBanned ? [own, 'ban'] : [own];
}

/** Where values of a schema hold integers of 64 bits; undefined where they hold none. */
function shapeOf(schema, schemas) {
  const name = schemaNamed(schema);
  if (name !== undefined) return holdsInt64(name, schemas) ? { schema: name } : undefined;
  if (schema.format === 'int64' && schema.type !== 'string') return 'int64';
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const shapes = parts.map((part) => shapeOf(part, schemas));
  shapes.push(itemsOf(schema, schemas), fieldsOf(schema, schemas));
  const found = shapes.filter((shape) => shape !== undefined);
  return found.length > 1 ? { all: found } : found[0];
}

function itemsOf({ items }, schemas) {
  const shape = items && shapeOf(items, schemas);
  return shape && { items: shape };
}

function fieldsOf({ properties = {}, additionalProperties }, schemas) {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const shape = shapeOf(schema, schemas);
    return shape === undefined ? [] : [[name, shape]];
  });
  const others =
    additionalProperties && typeof additionalProperties === 'object'
      ? shapeOf(additionalProperties, schemas)
      : undefined;
  if (fields.length === 0 && others === undefined) return undefined;
  return { fields: Object.fromEntries(fields), ...(others === undefined ? {} : { others }) };
}

/** Whether values of a named schema hold an integer of 64 bits, themselves or in what they refer to, in circles too. */
function holdsInt64(name, schemas, seen = new Set()) {
  if (seen.has(name)) return false;
  seen.add(name);
  const holds = (part) => {
    if (part === null || typeof part !== 'object') return false;
    if (part.format === 'int64' && part.type !== 'string') return true;
    const referred = schemaNamed(part);
    if (referred !== undefined) return holdsInt64(referred, schemas, seen);
    return Object.values(part).some(holds);
  };
  return holds(schemas[name]);
}
