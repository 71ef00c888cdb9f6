/** Whatever the client throws that is neither a mistake in its use (TypeError) nor the reason of an abort. */
export class PetstoreClientError extends Error {
  override readonly name: string = 'PetstoreClientError';
}

/** One fault of a request that was refused with `validation_failed`. */
export interface FaultDetail {
  /** Field or parameter; empty for the body as a whole. */
  readonly field: string;
  /** The rule that was broken. */
  readonly code: string;
  /** What is allowed. */
  readonly message: string;
}

/** What a refusal of the service says. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details: readonly FaultDetail[];
  readonly requestId: string | undefined;
  readonly help: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** A class of refusals, such as PetNotFoundError. */
export type RefusalClass = new (refusal: Refusal) => PetstoreError;

/** A refusal of the service. Of a code that this version knows it is of the code's own class, such as PetNotFoundError. */
export class PetstoreError extends PetstoreClientError implements Refusal {
  override readonly name: string = 'PetstoreError';
  /** Machine-readable; docs/errors.md of the service explains each. */
  declare readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** Every fault that was found; only with `validation_failed`. */
  readonly details: readonly FaultDetail[];
  /** To be named when a fault is reported. */
  readonly requestId: string | undefined;
  /** Address of the page that explains the code. */
  readonly help: string | undefined;
  /** How long to wait before the next try, in milliseconds from when this was thrown; undefined where the service does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.code = refusal.code;
    this.status = refusal.status;
    this.details = refusal.details;
    this.requestId = refusal.requestId;
    this.help = refusal.help;
    this.retryAfterMs = refusal.retryAfterMs;
  }

  /** What `JSON.stringify` writes of it. */
  toJSON(): object {
    const { name, code, message, status, details, requestId, help, retryAfterMs } = this;
    return { name, code, message, status, details, requestId, help, retryAfterMs };
  }
}

/** No answer came: the address is unknown, the connection was refused or broke. `cause` has what `fetch` said. */
export class ConnectionError extends PetstoreClientError {
  override readonly name: string = 'ConnectionError';
}

/** No answer came within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = 'TimeoutError';
}

/** What an answer says that the service cannot have sent. */
export interface UnexpectedResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly bodyStart: string;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** An answer that is none of the service's, such as the HTML of a proxy, a redirection, or JSON that is broken. */
export class UnexpectedResponseError extends PetstoreClientError implements UnexpectedResponse {
  override readonly name: string = 'UnexpectedResponseError';
  /** The HTTP status; 0 for a redirection in a browser, which tells no more of it. */
  readonly status: number;
  /** The `Content-Type` of the answer. */
  readonly contentType: string | undefined;
  /** The first 200 characters of the answer. */
  readonly bodyStart: string;
  /** To be named when a fault is reported. */
  readonly requestId: string | undefined;
  /** How long to wait before the next try, in milliseconds; undefined where the answer does not say. */
  readonly retryAfterMs: number | undefined;

  constructor(why: string, answer: UnexpectedResponse, options?: { readonly cause?: unknown }) {
    super(why, options);
    this.status = answer.status;
    this.contentType = answer.contentType;
    this.bodyStart = answer.bodyStart;
    this.requestId = answer.requestId;
    this.retryAfterMs = answer.retryAfterMs;
  }
}
