import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { OpenAPIObject } from '@nestjs/swagger';
import { errorCatalogue } from '../../src/core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import type { OperationObject, ResponseObject } from '../../src/docs/openapi/document-outlines.js';
import type { TestResponse } from './test-response.js';
import { withClosedSchemas } from './closed-schemas.js';

interface ResponseValidator {
  /** Returns undefined if the document allows the body for the status. */
  validateResponse(status: number, body: unknown): unknown;
}

// The package is CommonJS with an export named `default`, which loaders of ES modules treat differently.
const { default: OpenAPIResponseValidator } = createRequire(import.meta.url)(
  'openapi-response-validator',
) as {
  default: new (options: object) => ResponseValidator;
};

const RATE_LIMIT_HEADERS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
];

/** An OpenAPI document and the paths that it applies to. */
export interface ApiDocument {
  /** The path at or below which the operations are. */
  readonly prefix: string;
  /** The part of the path that the document's paths omit. */
  readonly base: string;
  readonly document: OpenAPIObject;
}

/** Validators of response bodies, each compiled once at first use, because services share documents. */
const validators = new WeakMap<ResponseObject, ResponseValidator>();

/** Checks responses of the service against its OpenAPI documents. Undeclared members are errors. */
export class Contract {
  constructor(readonly documents: readonly ApiDocument[]) {}

  /** Fails the test if the document of the path does not allow the response. */
  check(method: string, target: string, response: TestResponse): void {
    // The path as fetch sends it: `/v1/pets/.` becomes `/v1/pets/`.
    const path = new URL(target, 'http://service').pathname;
    const where = `${method} ${target} → ${response.status} ${response.text}`;
    matches(response.headers.get('x-request-id'), /^[\w.-]{1,128}$/, `x-request-id: ${where}`);
    if (response.status >= 400 && method !== 'HEAD') checkError(response, where);
    const below = this.documents.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    if (!below) return;
    // An overloaded service responds before it checks the key, so it cannot report a quota.
    if (response.status !== 204 && !(response.status === 503 && response.text.includes('it is overloaded')))
      for (const name of RATE_LIMIT_HEADERS) assert.ok(response.headers.has(name), `no ${name}: ${where}`);
    const operation = operationOf(below.document, method, path.slice(below.base.length));
    if (operation) this.checkOperation(operation, below.document, method, response, where);
  }

  private checkOperation(
    operation: OperationObject,
    document: OpenAPIObject,
    method: string,
    response: TestResponse,
    where: string,
  ): void {
    const declared = responseOf(operation, String(response.status), document);
    for (const name of requiredHeaders(declared, document))
      assert.ok(response.headers.has(name), `no header ${name}: ${where}`);
    // If the document describes no body, any body is allowed.
    if (method === 'HEAD' || !declared.content) return;
    const type = response.headers.get('content-type')?.split(';', 1)[0] ?? '';
    assert.ok(type in declared.content, `content-type ${type}: ${where}`);
    // Only JSON bodies have a schema.
    if (type !== 'application/json') return;
    if (response.status >= 400) checkCode(response, declared.content[type]?.examples ?? {}, where);
    const errors = validatorOf(declared, document).validateResponse(response.status, response.body);
    assert.ok(errors === undefined, `${where}: ${JSON.stringify(errors)}`);
  }
}

function validatorOf(response: ResponseObject, document: OpenAPIObject): ResponseValidator {
  let validator = validators.get(response);
  if (!validator) {
    // The package validates only the first content type.
    const { description, content = {} } = response;
    const json = { description, content: { 'application/json': content['application/json'] ?? {} } };
    validator = new OpenAPIResponseValidator({
      ...withClosedSchemas({ responses: { default: json }, components: document.components }),
      customFormats: { int64: () => true, uuid: isUuid },
    });
    validators.set(response, validator);
  }
  return validator;
}

function operationOf(document: OpenAPIObject, method: string, path: string): OperationObject | undefined {
  // A path that cannot be decoded belongs to no operation.
  if (!isDecodable(path)) return undefined;
  const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase() as 'get';
  for (const [template, item] of Object.entries(document.paths)) {
    if (templateToPattern(template).test(path)) return item[verb];
  }
  return undefined;
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

/** The response that an operation documents for a status. References are resolved. */
export function responseOf(
  { responses }: OperationObject,
  status: string,
  { components }: OpenAPIObject,
): ResponseObject {
  const response = responses[status] ?? responses.default;
  assert.ok(response, `no response ${status} is documented`);
  return '$ref' in response ? (components?.responses?.[nameIn(response)] as ResponseObject) : response;
}

/** The headers that a response must carry: those that the document marks as required. */
function requiredHeaders({ headers = {} }: ResponseObject, { components }: OpenAPIObject): string[] {
  return Object.entries(headers)
    .filter(([, header]) => {
      const described = '$ref' in header ? components?.headers?.[nameIn(header)] : header;
      return described !== undefined && 'required' in described && described.required === true;
    })
    .map(([name]) => name);
}

function nameIn({ $ref }: { readonly $ref: string }): string {
  return $ref.split('/').at(-1) ?? '';
}

function isUuid(text: string): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);
}

/** Checks the Error body of the specification: it has no other members, and `details` only for `validation_failed`. */
function checkError(response: TestResponse, where: string): void {
  matches(
    response.headers.get('content-type'),
    /^application\/json; charset=utf-8$/,
    `content-type: ${where}`,
  );
  const { code, message, status, details, ...rest } = response.body as Record<string, unknown>;
  assert.deepEqual(Object.keys(rest), [], `unknown members of Error: ${where}`);
  matches(code, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, `code: ${where}`);
  matches(message, /^.{5,}$/, `message: ${where}`);
  assert.doesNotMatch(String(message), /\{\w+\}/, `unfilled placeholder in the message: ${where}`);
  assert.equal(status, response.status, `status: ${where}`);
  if (code !== 'validation_failed') assert.equal(details, undefined, `details: ${where}`);
}

/** Checks that the operation documents the error if a feature defines it. General HTTP errors may come from Nest's exceptions. */
function checkCode({ body }: TestResponse, documented: object, where: string): void {
  const { code = '' } = body as { code?: string };
  const isOfFeature = !(code in HTTP_ERRORS) && errorCatalogue().some((row) => row.code === code);
  assert.ok(
    !isOfFeature || code in documented,
    `the operation does not declare ${code} in @ApiErrors(): ${where}`,
  );
}

/** Asserts with node:assert, because the kit must work in every test runner. */
function matches(value: unknown, pattern: RegExp, what: string): void {
  assert.ok(
    typeof value === 'string' && pattern.test(value),
    `${what} (${String(value)} is not ${String(pattern)})`,
  );
}

function templateToPattern(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`);
}
