import { STATUS_CODES } from 'node:http';
import { AUTH_ERRORS } from '../../auth/auth.errors.js';
import { ApiError, type ErrorBody, type ErrorDetail } from '../../core/errors/api-error.js';
import { type ErrorRow, errorCatalogue } from '../../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { writeExactJson } from '../../core/exact-json.js';
import { isJsonType } from '../../core/media-type.js';
import type { DeclaredOperation } from '../../core/declared-operation.js';
import { THROTTLING_ERRORS } from '../../throttling/throttling.errors.js';
import type { OperationObject, ResponseObject } from './document-outlines.js';

/** The error responses of an operation: its own, those of the chain, and `ofCredential` for credentials other than keys. */
export function errorResponsesOf(
  operation: OperationObject,
  ofCredential: readonly ErrorRow[],
  occurrences: Occurrences,
): Record<string, ResponseObject> {
  const byStatus = new Map<number, ErrorRow[]>();
  for (const row of errorsOf(operation, occurrences.declared, ofCredential))
    byStatus.set(row.status, [...(byStatus.get(row.status) ?? []), row]);
  const responses = [...byStatus].map(
    ([status, rows]) => [String(status), responseOf(operation, rows, occurrences)] as const,
  );
  return {
    ...Object.fromEntries(responses),
    default: { description: 'Any other refusal', content: { 'application/json': { schema: ERROR_SCHEMA } } },
  };
}

/**
 * Lets operations with equal error responses share one in `components.responses`, named after its code or status and numbered if they
 * differ.
 */
export function shareResponses(operations: readonly OperationObject[]): Record<string, ResponseObject> {
  const uses = new Map<string, { status: string; response: ResponseObject; of: OperationObject[] }>();
  for (const operation of operations)
    for (const [status, response] of Object.entries(operation.responses) as [string, ResponseObject][]) {
      if (status.startsWith('2')) continue;
      const text = status + writeExactJson(response);
      const use = uses.get(text) ?? { status, response, of: [] };
      uses.set(text, { ...use, of: [...use.of, operation] });
    }
  const shared: Record<string, ResponseObject> = {};
  for (const { status, response, of } of uses.values()) {
    if (of.length === 1) continue;
    const base = nameOf(status, response);
    let name = base;
    for (let number = 2; name in shared; number += 1) name = `${base}${number}`;
    shared[name] = response;
    for (const operation of of) operation.responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return shared;
}

const CHAIN_ERRORS: object = { ...AUTH_ERRORS, ...HTTP_ERRORS, ...THROTTLING_ERRORS };

function nameOf(status: string, { content }: ResponseObject): string {
  const [code = ''] = Object.keys(content?.['application/json']?.examples ?? {});
  const label = code in CHAIN_ERRORS || code === '' ? (STATUS_CODES[status] ?? 'other refusal') : code;
  return label.replaceAll(/(?:^|\W|_)(\w)/g, (_, initial: string) => initial.toUpperCase());
}

/** The errors in the example of validation_failed. */
const EXAMPLE_ERRORS: readonly ErrorDetail[] = [
  { field: 'limit', code: 'out_of_range', message: 'This must be from 1 to 100.' },
];
const ERROR_SCHEMA = { $ref: '#/components/schemas/Error' };

function errorsOf(
  operation: OperationObject,
  { errors = [], isPublic, scopes, deprecation, isIdempotent = false, ifMatch }: DeclaredOperation,
  ofCredential: readonly ErrorRow[],
): ErrorRow[] {
  const rows = errorCatalogue().filter((row) => errors.includes(row));
  // The headers of both are validated; they are added to the parameters later.
  const hasParameters = (operation.parameters ?? []).length > 0 || ifMatch !== undefined || isIdempotent;
  if (hasParameters || operation.requestBody) rows.push(HTTP_ERRORS.validation_failed);
  rows.push(HTTP_ERRORS.malformed_request);
  if (operation.requestBody) {
    rows.push(HTTP_ERRORS.payload_too_large, HTTP_ERRORS.unsupported_media_type);
    if (bodyTypesOf(operation).some(isJsonType)) rows.push(HTTP_ERRORS.malformed_json);
  }
  if (!isPublic) {
    const { insufficient_scope: _ofScopes, ...ofKey } = AUTH_ERRORS;
    rows.push(...Object.values(ofKey), ...ofCredential);
  }
  if (scopes && scopes.length > 0) rows.push(AUTH_ERRORS.insufficient_scope);
  if (deprecation) rows.push(HTTP_ERRORS.operation_removed);
  if (isIdempotent) rows.push(HTTP_ERRORS.idempotency_in_progress, HTTP_ERRORS.idempotency_key_reused);
  if (ifMatch !== undefined) rows.push(HTTP_ERRORS.precondition_failed);
  if (ifMatch === 'required') rows.push(HTTP_ERRORS.precondition_required);
  rows.push(HTTP_ERRORS.not_acceptable, ...Object.values(THROTTLING_ERRORS));
  rows.push(HTTP_ERRORS.internal_error, HTTP_ERRORS.service_unavailable);
  return rows;
}

/** Facts about the errors of an operation. */
export interface Occurrences {
  readonly declared: DeclaredOperation;
  /** The time from which the operation is removed, in ISO 8601; undefined if it is not deprecated. */
  readonly sunset: string | undefined;
  readonly bodyLimitBytes: number;
}

function responseOf(
  operation: OperationObject,
  rows: readonly ErrorRow[],
  occurrences: Occurrences,
): ResponseObject {
  const examples = rows.map((row) => {
    const params = { ...row.example, ...paramsOf(row, operation, occurrences) };
    const details = row === HTTP_ERRORS.validation_failed ? { details: EXAMPLE_ERRORS } : {};
    return [row.code, { summary: row.cause, value: new ApiError(row, { params, ...details }).body }] as const;
  });
  return {
    description: rows.map(({ code, cause }) => `\`${code}\`: ${cause}`).join('\n\n'),
    content: {
      'application/json': {
        schema: ERROR_SCHEMA,
        examples: Object.fromEntries(examples) satisfies Record<string, { value: ErrorBody }>,
      },
    },
  };
}

/** Values of the placeholders in an error's message that depend on the operation. */
function paramsOf(
  row: ErrorRow,
  operation: OperationObject,
  { declared, sunset = '', bodyLimitBytes }: Occurrences,
): Record<string, string | number> {
  switch (row.code) {
    case HTTP_ERRORS.not_acceptable.code:
      return { type: successTypeOf(operation) };
    case HTTP_ERRORS.unsupported_media_type.code:
      return { type: bodyTypesOf(operation).join(' or ') };
    case HTTP_ERRORS.payload_too_large.code:
      return { limit: bodyLimitBytes };
    case AUTH_ERRORS.insufficient_scope.code:
      return { scope: (declared.scopes ?? []).join(' ') };
    case HTTP_ERRORS.operation_removed.code:
      return {
        date: sunset.slice(0, 'yyyy-mm-dd'.length),
        replacement: declared.deprecation?.replacement ?? '',
      };
    default:
      return row.example ? {} : parametersOf(operation);
  }
}

/** The examples of an operation's parameters, to which a row without an example may refer. */
function parametersOf({ parameters = [] }: OperationObject): Record<string, string | number> {
  const examples = parameters.map((parameter) => {
    if ('$ref' in parameter) return [];
    const { name, schema } = parameter;
    const example: unknown =
      parameter.example ?? (schema && 'example' in schema ? schema.example : undefined);
    return ['string', 'number'].includes(typeof example) ? [[name, example as string | number] as const] : [];
  });
  return Object.fromEntries(examples.flat());
}

/** The media type of an operation's success response; JSON if it has no body. */
function successTypeOf({ responses }: OperationObject): string {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] as
    ResponseObject | undefined;
  return Object.keys(success?.content ?? {})[0] ?? 'application/json';
}

function bodyTypesOf({ requestBody }: OperationObject): string[] {
  return requestBody && 'content' in requestBody ? Object.keys(requestBody.content) : [];
}
