import { HttpException } from '@nestjs/common';
import type { ErrorRow } from './define-errors.js';

/** One error in the values that the client sent (the `details` of a 400). */
export interface ErrorDetail {
  /** Name of the field or parameter; empty if the error concerns the body as a whole. */
  readonly field: string;
  /** Lower_snake slug of the violated rule. */
  readonly code: string;
  /** What is allowed. */
  readonly message: string;
}

/** Maximum number of entries in `details`; the last one then gives the number of omitted errors. */
export const MAX_DETAILS = 20;
/** Maximum lengths of a field's name and of a text that the client sent and gets back, in UTF-16 code units. */
const MAX_FIELD_LENGTH = 100;
const MAX_TEXT_LENGTH = 500;

/** The faults to send, shortened and limited in number. */
export function shownFaults(faults: readonly ErrorDetail[]): ErrorDetail[] {
  const shown = faults.length > MAX_DETAILS ? faults.slice(0, MAX_DETAILS - 1) : faults;
  const details = shown.map(({ field, code, message }) => ({
    field: shortened(field, MAX_FIELD_LENGTH),
    code,
    message: shortened(message),
  }));
  const remaining = faults.length - details.length;
  if (remaining > 0)
    details.push({ field: '', code: 'more_faults', message: `There are ${remaining} more faults.` });
  return details;
}

/** A text of at most this length; a longer one is cut and ends with an ellipsis. */
export function shortened(text: string, maxLength = MAX_TEXT_LENGTH): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The Error body of the specification (heading "Error"), with `details` on a 400 for bad values. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly ErrorDetail[];
}

/** Details of one occurrence of an error. */
export interface ApiErrorOptions {
  /** Values for the `{name}` places of the row's message. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** Response headers that belong to this refusal, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** All errors in the values that were sent; `body.details` contains the first of them. */
  readonly details?: readonly ErrorDetail[];
  /** The internal reason: logged, never sent. */
  readonly cause?: unknown;
  /** The reason was logged when it began, so that not every request that it refuses is logged again. */
  readonly isLogged?: boolean;
}

/** The body of an ApiError, including its headers: an exception filter of a module sends what `getResponse()` returns. */
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

  /** The headers of the ApiError that an object is the body of; undefined for any other object. */
  static headersOf(body: object): ApiError['headers'] | undefined {
    return #headers in body ? body.#headers : undefined;
  }
}

/** An error from the catalogue. Throw it where the problem is detected; the error filter writes the response. */
export class ApiError extends HttpException {
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
  /** All errors, including those omitted from the body. */
  readonly faults: readonly ErrorDetail[];
  /** Whether the reason is in the log already, so that this refusal adds no line. */
  isLogged: boolean;

  constructor(row: ErrorRow, options: ApiErrorOptions = {}) {
    const message = row.message.replace(/\{(\w+)\}/g, (place, name: string) =>
      shortened(String(options.params?.[name] ?? place)),
    );
    const headers = options.headers ?? {};
    const details = options.details && shownFaults(options.details);
    const body = new BodyWithHeaders(row.code, message, row.status, headers, details);
    // Of a status below 500, and where the reason is logged, the stack trace never is, and capturing it costs more than the rest.
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
