// What the typed client needs of the OpenAPI documents of a service: one document with the operations that take and answer JSON, their
// parameters, bodies and answers of success, and the schemas that those name. Refusals are the same everywhere, headers the core reads.
import { isDeepStrictEqual } from 'node:util';

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];
const VERSION = /\/v\d+$/;

/**
 * Joins documents into one whose paths begin where the address of the service ends, such as `/v1/pets` and `/account`. The first
 * document is that of a version: what its server has before the version is the prefix of all. Throws when two documents have another
 * operation or schema by the same name.
 */
export function reducedDocument(documents) {
  const [first] = documents.map(serverPath);
  if (first === undefined || !VERSION.test(first))
    throw new Error('The address of the first document ends in no version such as /v1.');
  const prefix = first.replace(VERSION, '');
  const joined = { openapi: '3.0.0', info: documents[0].info, paths: {}, components: { schemas: {} } };
  for (const document of documents) {
    const base = serverPath(document).slice(prefix.length).replace(/\/$/, '');
    for (const [path, item] of Object.entries(document.paths)) {
      const operations = METHODS.flatMap((method) => (item[method] ? [[method, item[method]]] : []))
        .filter(([, operation]) => isOfJson(operation))
        .map(([method, operation]) => [method, reducedOperation(operation, item.parameters ?? [])]);
      if (operations.length > 0) joined.paths[base + path] = Object.fromEntries(operations);
    }
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      const known = joined.components.schemas[name];
      if (known && !isDeepStrictEqual(known, schema))
        throw new Error(`Two documents have another schema by the name ${name}.`);
      joined.components.schemas[name] = schema;
    }
  }
  const names = operationsOf(joined).map(({ operation }) => operation.operationId);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`Two operations have the operationId ${twice}.`);
  return withoutUnused(joined);
}

/** The operations of a document, in its order. */
export function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] ? [{ method, path, operation: item[method] }] : [])),
  );
}

/** The schema of what an operation answers when it succeeds; undefined when it answers no body. */
export function answerSchema(operation) {
  return Object.values(operation.responses)[0]?.content?.['application/json']?.schema;
}

/** The schema of what an operation takes as its body; undefined when it takes none. */
export function bodySchema(operation) {
  return operation.requestBody?.content['application/json']?.schema;
}

function serverPath({ servers }) {
  return new URL(servers?.[0]?.url ?? '/', 'http://service').pathname.replace(/\/$/, '');
}

/** Whether it takes and answers JSON or nothing: files and streams are beyond a client of JSON. */
function isOfJson({ operationId, requestBody, responses }) {
  const [, success] = successOf(responses) ?? [];
  return (
    operationId !== undefined &&
    success !== undefined &&
    [requestBody, success].every((part) => !part?.content || 'application/json' in part.content)
  );
}

function successOf(responses) {
  return Object.entries(responses).find(([status]) => /^2\d\d$/.test(status));
}

function reducedOperation(operation, ofPath) {
  const { operationId, summary, description, deprecated, requestBody, responses } = operation;
  const [status, success] = successOf(responses);
  const parameters = [...ofPath, ...(operation.parameters ?? [])];
  const json = success.content?.['application/json'];
  return {
    operationId,
    summary,
    description,
    ...(deprecated ? { deprecated } : {}),
    ...(operation['x-uncounted'] ? { 'x-uncounted': operation['x-uncounted'] } : {}),
    ...(parameters.some(isIdempotencyKey) ? { 'x-idempotent': true } : {}),
    parameters: parameters.filter((one) => ['path', 'query'].includes(one.in) || isOwnHeader(one)),
    ...(requestBody
      ? {
          requestBody: {
            required: requestBody.required ?? false,
            content: { 'application/json': { schema: requestBody.content['application/json'].schema } },
          },
        }
      : {}),
    responses: {
      [status]: {
        description: success.description,
        ...(json ? { content: { 'application/json': { schema: json.schema } } } : {}),
      },
    },
  };
}

const isIdempotencyKey = (one) => one.in === 'header' && one.name.toLowerCase() === 'idempotency-key';

/** Headers that the client sets itself, or whose answer it would not understand. */
const HEADERS_OF_CORE = new Set([
  'accept',
  'authorization',
  'content-type',
  'idempotency-key',
  'if-none-match',
]);

const isOwnHeader = (one) => one.in === 'header' && !HEADERS_OF_CORE.has(one.name.toLowerCase());

/** The document without the schemas that no operation leads to. */
function withoutUnused(document) {
  const used = new Set();
  const visit = (part) => {
    if (part === null || typeof part !== 'object') return;
    const name = schemaNamed(part);
    if (name !== undefined && !used.has(name)) {
      used.add(name);
      visit(document.components.schemas[name]);
    }
    for (const inner of Object.values(part)) visit(inner);
  };
  visit(document.paths);
  const schemas = Object.entries(document.components.schemas).filter(([name]) => used.has(name));
  return { ...document, components: { schemas: Object.fromEntries(schemas) } };
}

/** The name of the schema that a `$ref` leads to; undefined for a schema of its own. */
export function schemaNamed({ $ref }) {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined;
}
