import { PUBLIC_EXTENSION, SCOPES_EXTENSION } from '../auth/auth.decorators.js';
import { AUTH_ERRORS } from '../auth/auth.errors.js';
import { IF_MATCH_EXTENSION } from '../caching/if-match.decorator.js';
import { DEPRECATION_EXTENSION } from '../deprecation/deprecated.decorator.js';
import { ERRORS_EXTENSION } from '../errors/api-errors.decorator.js';
import { type ErrorRow, errorCatalogue } from '../errors/define-errors.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { isJsonType } from '../http/media-type.js';
import { IDEMPOTENT_EXTENSION } from '../idempotency/idempotent.decorator.js';
import { THROTTLING_ERRORS } from '../throttling/throttling.errors.js';
import type { OperationObject, ResponseObject } from './document-outlines.js';

/** An operation with the extensions that the decorators left on it. */
export type ExtendedOperation = OperationObject & Readonly<Record<`x-${string}`, unknown>>;

/**
 * The error responses of an operation: its own, and those of the chain of guards, pipes and interceptors. `ofCredential` are the
 * errors of a credential other than API keys.
 */
export function errorResponsesOf(
  operation: ExtendedOperation,
  ofCredential: readonly ErrorRow[],
): Record<string, ResponseObject> {
  const byStatus = new Map<number, ErrorRow[]>();
  for (const row of errorsOf(operation, ofCredential))
    byStatus.set(row.status, [...(byStatus.get(row.status) ?? []), row]);
  const responses = [...byStatus].map(([status, rows]) => [String(status), responseOf(rows)] as const);
  return {
    ...Object.fromEntries(responses),
    default: { description: 'Any other refusal', content: { 'application/json': { schema: ERROR_SCHEMA } } },
  };
}

const ERROR_SCHEMA = { $ref: '#/components/schemas/Error' };

function errorsOf(operation: ExtendedOperation, ofCredential: readonly ErrorRow[]): ErrorRow[] {
  const own = (operation[ERRORS_EXTENSION] ?? []) as string[];
  const rows = errorCatalogue().filter(({ code }) => own.includes(code));
  const ifMatch = operation[IF_MATCH_EXTENSION];
  const isIdempotent = operation[IDEMPOTENT_EXTENSION] !== undefined;
  // The headers of both are validated; they are added to the parameters after this.
  const hasParameters = (operation.parameters ?? []).length > 0 || ifMatch !== undefined || isIdempotent;
  if (hasParameters || operation.requestBody)
    rows.push(HTTP_ERRORS.validation_failed, HTTP_ERRORS.malformed_request);
  if (operation.requestBody) {
    rows.push(HTTP_ERRORS.payload_too_large, HTTP_ERRORS.unsupported_media_type);
    if (takesJson(operation.requestBody)) rows.push(HTTP_ERRORS.malformed_json);
  }
  if (operation[PUBLIC_EXTENSION] === undefined) {
    const { insufficient_scope: _ofScopes, ...ofKey } = AUTH_ERRORS;
    rows.push(...Object.values(ofKey), ...ofCredential);
  }
  if (operation[SCOPES_EXTENSION] !== undefined) rows.push(AUTH_ERRORS.insufficient_scope);
  if (operation[DEPRECATION_EXTENSION] !== undefined) rows.push(HTTP_ERRORS.operation_removed);
  if (isIdempotent) rows.push(HTTP_ERRORS.idempotency_in_progress, HTTP_ERRORS.idempotency_key_reused);
  if (ifMatch !== undefined) rows.push(HTTP_ERRORS.precondition_failed);
  if (ifMatch === 'required') rows.push(HTTP_ERRORS.precondition_required);
  rows.push(HTTP_ERRORS.not_acceptable, ...Object.values(THROTTLING_ERRORS));
  return rows;
}

function takesJson(body: NonNullable<OperationObject['requestBody']>): boolean {
  return 'content' in body && Object.keys(body.content).some((type) => isJsonType(type));
}

function responseOf(rows: readonly ErrorRow[]): ResponseObject {
  const examples = rows.map(({ code, status, message, cause }) => [
    code,
    { summary: cause, value: { code, message: message.replace(/\{\w+\}/g, '…'), status } },
  ]);
  return {
    description: rows.map(({ code, cause }) => `\`${code}\`: ${cause}`).join('\n\n'),
    content: {
      'application/json': {
        schema: ERROR_SCHEMA,
        examples: Object.fromEntries(examples) as Record<string, object>,
      },
    },
  };
}
