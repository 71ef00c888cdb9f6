import { HttpException } from '@nestjs/common';
import type { ErrorRow } from './define-errors.js';

/** An error in a value sent by the client, in the `details` of a 400. */
export interface ErrorDetail {
  /** Name of the field or parameter; empty if the error concerns the body as a whole. */
  readonly field: string;
  /** The violated rule, in snake_case. */
  readonly code: string;
  /** Human-readable explanation, such as the allowed values. */
  readonly message: string;
}

/** Maximum number of entries in `details`; the last one then contains the number of omitted errors. */
export const MAX_DETAILS = 20;
/** Maximum lengths of a field name and of client text in a response, in UTF-16 code units. */
const MAX_FIELD_LENGTH = 100;
const MAX_TEXT_LENGTH = 500;

/** The errors to send, truncated and limited in number. */
export function limitedErrors(errors: readonly ErrorDetail[]): ErrorDetail[] {
  const shown = errors.length > MAX_DETAILS ? errors.slice(0, MAX_DETAILS - 1) : errors;
  const details = shown.map(({ field, code, message }) => ({
    field: shortened(field, MAX_FIELD_LENGTH),
    code,
    message: shortened(message),
  }));
  const remaining = errors.length - details.length;
  if (remaining > 0)
    details.push({ field: '', code: 'more_faults', message: `There are ${remaining} more errors.` });
  return details;
}

/** Truncates text to this length, with an ellipsis. */
export function shortened(text: string, maxLength = MAX_TEXT_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The Error body of the specification (heading "Error"), with `details` on a 400 for invalid values. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly ErrorDetail[];
}

/** Details of one occurrence of an error. */
export interface ApiErrorOptions {
  /** Values for the `{name}` placeholders in the row's message. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** Response headers of the error, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** All errors in the sent values; `body.details` contains the first of them. */
  readonly details?: readonly ErrorDetail[];
  /** The internal reason: logged, never sent. */
  readonly cause?: unknown;
  /** The reason was logged when it first occurred, so that it is not logged again for every refused request. */
  readonly isLogged?: boolean;
}

/** The body of an ApiError together with its headers: a module's exception filter sends the value that `getResponse()` returns. */
export class BodyWithHeaders implements ErrorBody {
  readonly details?: readonly ErrorDetail[];
  readonly #headers: ApiError['headers'];

  constructor(
    readonly code: string,
    readonly message: string,
    readonly status: number,
    headers: ApiError['headers'],
    details: readonly ErrorDetail[] | undefined,
  ) {
    this.#headers = headers;
    if (details) this.details = details;
  }

  /** The headers of the ApiError with this body; undefined for any other object. */
  static headersOf(body: object): ApiError['headers'] | undefined {
    return #headers in body ? body.#headers : undefined;
  }
}

/** An error in the catalogue. Throw it where the problem is detected; the error filter sends the response. */
export class ApiError extends HttpException {
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
  /** All errors, including those omitted from the body. */
  readonly faults: readonly ErrorDetail[];
  /** Whether the reason is already logged. */
  isLogged: boolean;

  constructor(row: ErrorRow, options: ApiErrorOptions = {}) {
    const message = messageOf(row, options.params);
    const headers = options.headers ?? {};
    const details = options.details && limitedErrors(options.details);
    const body = new BodyWithHeaders(row.code, message, row.status, headers, details);
    // The stack trace is never logged for a status below 500 or a reason that is already logged, and capturing it costs more than
    // everything else.
    const { stackTraceLimit } = Error;
    if (row.status < 500 || options.isLogged) Error.stackTraceLimit = 0;
    super(body, row.status, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.message = message;
    this.code = row.code;
    this.isLogged = options.isLogged ?? false;
    this.headers = headers;
    this.body = body;
    this.faults = options.details ?? [];
  }
}

/** The texts of a row's message, at even positions, and the names of its placeholders between them. */
const splitMessages = new WeakMap<ErrorRow, { readonly of: string; readonly parts: readonly string[] }>();

function messageOf(row: ErrorRow, params: ApiErrorOptions['params']): string {
  let split = splitMessages.get(row);
  if (split?.of !== row.message)
    splitMessages.set(row, (split = { of: row.message, parts: row.message.split(/\{(\w+)\}/) }));
  let message = '';
  for (const [at, part] of split.parts.entries())
    message += at % 2 === 0 ? part : shortened(String(params?.[part] ?? `{${part}}`));
  return message;
}
