/** Base class of all errors that the client throws, except TypeError for incorrect use and the reason of an aborted signal. */
export class PetstoreClientError extends Error {
  override readonly name: string = 'PetstoreClientError';
}

/** An error in a request that was refused with `validation_failed`. */
export interface ErrorDetail {
  /** Field or parameter; empty for the body as a whole. */
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** An error response of the service. Each code that this version knows has a subclass, such as PetNotFoundError. */
export class PetstoreError extends PetstoreClientError {
  override readonly name: string = 'PetstoreError';
  declare readonly code: string;
  declare readonly status: number;
  /** All errors in the request; only with `validation_failed`. */
  declare readonly details: readonly ErrorDetail[];
  /** Quote it when you report a problem. */
  declare readonly requestId: string | undefined;
  /** URL of the page that explains the code. */
  declare readonly help: string | undefined;
  /** How long to wait before the next request, in milliseconds; undefined if the response does not specify it. */
  declare readonly retryAfterMs: number | undefined;

  constructor({ message, ...more }: Refusal) {
    super(message);
    Object.assign(this, more);
  }

  /** The members for `JSON.stringify`. */
  toJSON(): Refusal & { readonly name: string } {
    const { name, code, message, status, details, requestId, help, retryAfterMs } = this;
    return { name, code, message, status, details, requestId, help, retryAfterMs };
  }
}

/** The contents of an error response. */
export type Refusal = Omit<PetstoreError, 'name' | 'stack' | 'cause' | 'toJSON'>;

/** A class of error responses. */
export type RefusalClass = new (refusal: Refusal) => PetstoreError;

/** There was no response: the host is unknown, or the connection was refused or lost. `cause` is the error of `fetch`. */
export class ConnectionError extends PetstoreClientError {
  override readonly name: string = 'ConnectionError';
}

/** There was no response within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = 'TimeoutError';
}

/** An invalid response, or one that is not from the service, such as an HTML page of a proxy or a redirect. */
export class UnexpectedResponseError extends PetstoreClientError {
  override readonly name: string = 'UnexpectedResponseError';
  /** 0 for a redirect in a browser. */
  readonly status: number;
  readonly contentType: string | undefined;
  /** The first 200 characters of the response. */
  readonly bodyStart: string;
  readonly requestId: string | undefined;

  constructor(
    message: string,
    { status, headers }: Response,
    text: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
    this.status = status;
    this.contentType = headers.get('content-type') ?? undefined;
    this.bodyStart = text.slice(0, 200);
    this.requestId = headers.get('x-request-id') ?? undefined;
  }
}

/** Thrown for a webhook message that must not be trusted, because its signature or timestamp is invalid. */
export class WebhookVerificationError extends PetstoreClientError {
  override readonly name: string = 'WebhookVerificationError';
}
