import type { Context } from '@opentelemetry/api';
import type { Caller } from '../auth/caller.js';
import type { Requester } from '../auth/clients/audited-changes.js';
import type { TraceIds } from '../core/tracing.js';
import type { QuotaSubject } from '../throttling/quota.js';
import type { Precondition } from './replies/precondition.js';
import type { Versions } from '../database/data-version.js';
import type { ResponseCache } from './caching/response-cache.js';
import type { IdempotentRequest } from './idempotency/idempotent.decorator.js';
import type { RegisteredOperation } from './operations/registered-operation.js';

// Express's Request extends Node's, so the server sees these properties as well.
declare module 'http' {
  /** Data attached to a request for later parts of the service. Each property is undefined until it is set. */
  interface IncomingMessage {
    /** The context that was active when the request arrived, with the span of `node:http` instrumentation, if any. */
    arrivedIn?: Context | undefined;
    /** When the request arrived, after earlier ones on its connection, as a value of `performance.now()`. */
    arrivedAt?: number | undefined;
    /** The trace of the request, for log lines written after its async context has ended. */
    traceIds?: TraceIds | undefined;
    /** The error in the request line, to complete "The request is malformed: …". */
    malformation?: string | undefined;
    /** Whether the request arrived on the management port, with ADMIN_ON=management. */
    isByManagementPort?: boolean | undefined;
    /** Whether X-Forwarded-For contained something other than an address, which was dropped. */
    isForwardedCut?: boolean | undefined;
    /** The IP address of the client; null once it is known to have none. */
    clientAddress?: string | null | undefined;
    /** The sender of the request. */
    caller?: Caller | undefined;
    /** The requester of a command. Its request does not come from the network, and has no quota, log line, metric or usage. */
    requester?: Requester | undefined;
    /** The subject that the request counts for. */
    quotaSubject?: QuotaSubject | undefined;
    /** Whether the request was admitted without using quota. */
    isUncounted?: boolean | undefined;
    /** Whether the request is not logged. */
    isUnlogged?: boolean | undefined;
    /** The operation that the request has reached, after all global guards. */
    operation?: RegisteredOperation | undefined;
    /** The `Link` set by guards, such as that of a deprecation. */
    linkOfGuards?: string | undefined;
    /** The cache for the result of a `@Cached()` handler, and the versions of the data that the request must see. */
    cached?: { readonly in: ResponseCache; readonly versions: Versions } | undefined;
    /** The data of an `@Idempotent()` handler for a request with an `Idempotency-Key`. */
    idempotent?: IdempotentRequest | undefined;
    /** The precondition of the request, for a handler with `@IfMatch()`. */
    precondition?: Precondition | undefined;
    /** Creates the page for browsers if no route matches. */
    missingPage?: (() => string) | undefined;
    /** The route of a page or file that is served after all routes. */
    servedRoute?: string | undefined;
    /** The exception that a filter handles, converted if it was thrown by a driver or a middleware. */
    exception?: unknown;
    /** The code of the Error body that was sent. */
    refusalCode?: string | undefined;
  }
}
