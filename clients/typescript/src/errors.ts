/** Whatever the client throws, except for a mistake in its use (TypeError) and the reason of an aborted signal. */
export class PetstoreClientError extends Error {
  override readonly name: string = 'PetstoreClientError';
}

/** One fault of a request that was refused with `validation_failed`. */
export interface ErrorDetail {
  /** Field or parameter; empty for the body as a whole. */
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** An error response of the service. A code that this version knows has its own class, such as PetNotFoundError. */
export class PetstoreError extends PetstoreClientError {
  override readonly name: string = 'PetstoreError';
  declare readonly code: string;
  declare readonly status: number;
  /** Every fault that was found; only with `validation_failed`. */
  declare readonly details: readonly ErrorDetail[];
  /** Name it when you report a fault. */
  declare readonly requestId: string | undefined;
  /** Address of the page that explains the code. */
  declare readonly help: string | undefined;
  /** How long to wait before the next request; undefined where the service does not say. */
  declare readonly retryAfterMs: number | undefined;

  constructor({ message, ...more }: Refusal) {
    super(message);
    Object.assign(this, more);
  }

  /** What `JSON.stringify` writes of it. */
  toJSON(): Refusal & { readonly name: string } {
    const { name, code, message, status, details, requestId, help, retryAfterMs } = this;
    return { name, code, message, status, details, requestId, help, retryAfterMs };
  }
}

/** What an error response says. */
export type Refusal = Omit<PetstoreError, 'name' | 'stack' | 'cause' | 'toJSON'>;

/** A class of error responses. */
export type RefusalClass = new (refusal: Refusal) => PetstoreError;

/** No response came: the address is unknown, the connection was refused or broke. `cause` has what `fetch` said. */
export class ConnectionError extends PetstoreClientError {
  override readonly name: string = 'ConnectionError';
}

/** No response came within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = 'TimeoutError';
}

/** A response that is not from the service, such as the HTML of a proxy, a redirect, or broken JSON. */
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

/** A webhook message that must not be trusted: its signature or its time is wrong. */
export class WebhookVerificationError extends PetstoreClientError {
  override readonly name: string = 'WebhookVerificationError';
}
