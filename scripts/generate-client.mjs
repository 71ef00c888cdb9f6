// Generates the parts of the typed client (clients/typescript) that depend on the OpenAPI documents: types, the operation table and the error
// classes. `npm run docs:generate` runs it for this service. For another service, use
//   node scripts/generate-client.mjs --out <folder> <document.json> [<document.json> …]
// The first document describes an API version (`petstore openapi --out …`). Others, such as the self-service document, may follow.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

/** The folder with the generated files for this service, relative to the project's root. */
export const GENERATED = 'clients/typescript/src/generated';
const HEAD = '// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.\n';
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];
const VERSION = /\/v\d+$/;
/** Headers that the client sets itself, or that lead to responses it cannot handle. */
const OWN_HEADERS = /^(?:accept|authorization|content-type|idempotency-key|if-none-match)$/i;
/** Class names that the client or JavaScript already uses. */
const RESERVED =
  /^(?:Petstore(?:Client)?|Connection|Timeout|UnexpectedResponse|WebhookVerification|Type|Range|Syntax|)Error$/;

/** The contents of the generated files, by file name. Throws if the documents contradict each other. */
export async function clientFiles(documents) {
  const plain = JSON.parse(JSON.stringify(documents));
  const { paths, operations, schemas } = joined(plain);
  return {
    'schemas.ts': HEAD + (await schemaTypes(paths, schemas)),
    'operations.ts': HEAD + operationTable(operations, schemas),
    'errors.ts': HEAD + errorClasses(plain),
  };
}

/**
 * Operations that the client's handwritten code calls but the documents do not define, for example because a team has removed the catalogue.
 * In that case, the client is not updated.
 */
export function absentOperations(folder, documents) {
  const { operations } = joined(JSON.parse(JSON.stringify(documents)));
  const calls = readFileSync(join(folder, '..', 'client.ts'), 'utf8').matchAll(
    /this\.(?:list|call)\('(\w+)'/g,
  );
  return [...calls].map(([, id]) => id).filter((id) => !operations.has(id));
}

/** The operations of all documents that send and receive only JSON or no body. Paths are relative to the client's base URL. */
function joined(documents) {
  const [first] = documents.map(serverPath);
  if (!VERSION.test(first))
    throw new Error('The server URL of the first document must end with a version such as /v1.');
  const [operations, paths, all] = [new Map(), {}, {}];
  for (const document of documents) {
    const base = serverPath(document).slice(first.replace(VERSION, '').length);
    const ofDocument = {};
    for (const [path, item] of Object.entries(document.paths))
      for (const method of METHODS.filter((one) => one in item)) {
        const operation = reduced(item[method], item.parameters ?? []);
        if (!operation) continue;
        if (operations.has(operation.operationId))
          throw new Error(`More than one operation has the operationId ${operation.operationId}.`);
        operations.set(operation.operationId, { method: method.toUpperCase(), path: base + path, operation });
        (ofDocument[base + path] ??= {})[method] = operation;
      }
    Object.assign(paths, ofDocument);
    const schemas = document.components?.schemas ?? {};
    const used = namesIn(ofDocument, schemas);
    for (const name of Object.keys(schemas).filter((one) => used.has(one)))
      if (!isDeepStrictEqual((all[name] ??= schemas[name]), schemas[name]))
        throw new Error(`The documents define different schemas named ${name}.`);
  }
  return { paths, operations, schemas: all };
}

const serverPath = ({ servers }) =>
  new URL(servers?.[0]?.url ?? '/', 'http://service').pathname.replace(/\/$/, '');

/** An operation reduced to JSON content and its successful response; undefined if it has other content. */
function reduced({ security: _, tags: __, callbacks: ___, requestBody, responses, ...operation }, ofPath) {
  const [status, success] = Object.entries(responses).find(([one]) => /^2\d\d$/.test(one)) ?? [];
  const isJson = (part) => !part?.content || 'application/json' in part.content;
  if (!operation.operationId || !success || !isJson(requestBody) || !isJson(success)) return undefined;
  const parameters = [...ofPath, ...(operation.parameters ?? [])];
  const isIncluded = ({ in: place, name }) =>
    ['path', 'query'].includes(place) || (place === 'header' && !OWN_HEADERS.test(name));
  const isKey = ({ in: place, name }) => place === 'header' && name.toLowerCase() === 'idempotency-key';
  const json = ({ content, ...more }) =>
    content
      ? { ...more, content: { 'application/json': { schema: content['application/json'].schema } } }
      : more;
  return {
    ...operation,
    parameters: parameters.filter(isIncluded),
    ...(parameters.some(isKey) ? { 'x-idempotent': true } : {}),
    ...(requestBody ? { requestBody: json(requestBody) } : {}),
    responses: { [status]: json({ description: success.description, content: success.content }) },
  };
}

/** The names of the schemas that part of a document refers to, directly or indirectly. */
function namesIn(part, schemas, names = new Set()) {
  for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    if (!names.has(name)) namesIn(schemas[name], schemas, names.add(name));
  return names;
}

/** The types that openapi-typescript generates, with bigint for 64-bit integers, and without examples and `never` members. */
async function schemaTypes(paths, schemas) {
  const document = { openapi: '3.0.0', info: { title: '', version: '' }, paths, components: { schemas } };
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
  const orNull = ts.factory.createUnionTypeNode([
    bigint,
    ts.factory.createLiteralTypeNode(ts.factory.createNull()),
  ]);
  const nodes = await openapiTS(structuredClone(document), {
    defaultNonNullable: false,
    transform: ({ format, type, nullable }) =>
      format === 'int64' && type !== 'string' ? (nullable ? orNull : bigint) : undefined,
  });
  return astToString(nodes.filter(({ name }) => ['components', 'operations'].includes(name?.text)))
    .replaceAll(/^ +\w+\?: never;\n/gm, '')
    .replaceAll(/^ +headers: \{\n +\[name: string\]: unknown;\n +\};\n/gm, '')
    .replaceAll(/\n +\* @example [^]*?(?=\n +\*(?:\/| @))/g, '')
    .replaceAll('@description ', '')
    .replaceAll(/\/\*\*\n +\* (.*)\n +\*\//g, '/** $1 */')
    .replaceAll(/ +\/\*\*\n +\*\/\n/g, '');
}

/** The shapes of a schema (src/operation.ts), which locate the 64-bit integers in its values. */
function shapesOf(schema, schemas) {
  const reached = [schema, ...[...namesIn(schema ?? {}, schemas)].map((name) => schemas[name])];
  if (!reached.some((one) => JSON.stringify(one)?.includes('"format":"int64"'))) return [];
  if (schema.$ref) return [schema.$ref.split('/').at(-1)];
  if (schema.format === 'int64') return schema.type === 'string' ? [] : ['int64'];
  const parts = [schema.allOf, schema.oneOf, schema.anyOf].flatMap((some) => some ?? []);
  const members = { ...schema.properties, '*': schema.items ?? schema.additionalProperties };
  const shapes = Object.entries(members)
    .map(([name, member]) => [name, shapesOf(member, schemas)])
    .filter(([, found]) => found.length > 0);
  return [
    ...parts.flatMap((part) => shapesOf(part, schemas)),
    ...(schema.oneOf || schema.anyOf ? ['?'] : []),
    ...(shapes.length > 0 ? [Object.fromEntries(shapes)] : []),
  ];
}

function operationTable(operations, schemas) {
  const jsonOf = (part) => part?.content?.['application/json']?.schema;
  const rows = [...operations].map(([id, { method, path, operation }]) => {
    const { parameters, requestBody, responses } = operation;
    const isOf64Bits = Object.fromEntries(
      parameters.map(({ name, schema }) => [name, shapesOf(schema, schemas)]),
    );
    const ownLimit = operation['x-uncounted'];
    const limit = ownLimit ? ownLimit.name : 'quota';
    const row = {
      method,
      path,
      limits: !ownLimit || ownLimit.refusesBanned ? [limit, 'ban'] : [limit],
      isIdempotent: operation['x-idempotent'] || undefined,
      parameters: Object.values(isOf64Bits).some((shapes) => shapes.length > 0) ? [isOf64Bits] : undefined,
      commas: namesOrNone(
        parameters.filter(({ in: place, explode }) => place === 'query' && explode === false),
      ),
      body: jsonOf(requestBody) && shapesOf(jsonOf(requestBody), schemas),
      response: jsonOf(Object.values(responses)[0]) && shapesOf(jsonOf(Object.values(responses)[0]), schemas),
    };
    return `  ${id}: ${JSON.stringify(row)},\n`;
  });
  const shapes = Object.entries(schemas).map(([name, schema]) => [name, shapesOf(schema, schemas)]);
  const lines = shapes
    .filter(([, some]) => some.length > 0)
    .map(([name, some]) => `  ${name}: ${JSON.stringify(some)},\n`);
  return `import type { Operation, Shape } from '../operation.js';

/** The members of each schema that contain 64-bit integers. Schemas without them are omitted. */
export const SHAPES: Readonly<Record<string, readonly Shape[]>> = {
${lines.join('')}};

/** Every operation by its operationId. */
export const OPERATIONS = {
${rows.join('')}} as const satisfies Readonly<Record<string, Operation>>;
`;
}

const namesOrNone = (parameters) => (parameters.length > 0 ? parameters.map(({ name }) => name) : undefined);

/** An error class for each code in the documents' examples. Throws if two codes result in the same class name. */
function errorClasses(documents) {
  const rows = new Map();
  for (const { paths, components } of documents)
    for (const { responses = {} } of Object.values(paths).flatMap((item) => Object.values(item)))
      for (const [status, response] of Object.entries(responses)) {
        const { content } = response.$ref ? components.responses[response.$ref.split('/').at(-1)] : response;
        for (const [code, { summary = '', value }] of Object.entries(
          content?.['application/json']?.examples ?? {},
        ))
          if (status >= '400' && value?.code === code && /^[a-z]\w*$/.test(code))
            rows.set(code, { status, cause: summary.replaceAll('*/', '* /'), name: classNameOf(code) });
      }
  const sorted = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const twice = sorted.find(([code, { name }]) =>
    sorted.some(([other, one]) => other !== code && one.name === name),
  );
  if (twice) throw new Error(`More than one error code maps to the class ${twice[1].name}.`);
  const classes = sorted.map(
    ([code, { status, cause, name }]) => `
/** ${status} \`${code}\`. ${cause} */
export class ${name} extends PetstoreError {
  declare readonly code: '${code}';
  override readonly name: string = '${name}';
}
`,
  );
  return `import { PetstoreError, type RefusalClass } from '../errors.js';
${classes.join('')}
/** The class of every code. */
export const ERROR_CLASSES: Readonly<Record<string, RefusalClass>> = {
${sorted.map(([code, { name }]) => `  ${code}: ${name},\n`).join('')}};
`;
}

/** PetNotFoundError for `pet_not_found`, InternalError for `internal_error`. */
function classNameOf(code) {
  const words = code.replace(/_error$/, '').split('_');
  const name = `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Error`;
  return RESERVED.test(name) ? `Refused${name}` : name;
}

/** Writes the generated files into a folder. */
export async function writeClientFiles(folder, documents) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await clientFiles(documents)))
    writeFileSync(join(folder, name), text);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
  if (values.out === undefined || positionals.length === 0) {
    console.error(
      'Usage: node scripts/generate-client.mjs --out <folder> <document.json> [<document.json> …]',
    );
    process.exitCode = 2;
  } else
    await writeClientFiles(
      values.out,
      positionals.map((file) => JSON.parse(readFileSync(file, 'utf8'))),
    );
}
