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

// Express's Request is one of Node's: so the server itself sees the same.
declare module 'http' {
  /** Notes on a request for later parts of the service. Each property is undefined until it is noted. */
  interface IncomingMessage {
    /** The context that was active when the request arrived, with the span of an instrumentation of `node:http`, if any. */
    arrivedIn?: Context | undefined;
    /** The trace of the request, for lines that are written after its async context has ended. */
    traceIds?: TraceIds | undefined;
    /** The fault of the request line, in words that complete "The request is malformed: …". */
    malformation?: string | undefined;
    /** Whether the request came by the management port, with ADMIN_ON=management. */
    isByManagementPort?: boolean | undefined;
    /** Whether X-Forwarded-For had something other than an address, which was dropped. */
    isForwardedCut?: boolean | undefined;
    /** The IP address that the request comes from; null once it is known to have none. */
    clientAddress?: string | null | undefined;
    /** The sender of the request. */
    caller?: Caller | undefined;
    /** The requester of a command, which no network has brought: its request has no quota, log line, metric or usage. */
    requester?: Requester | undefined;
    /** The subject that the request counts for. */
    quotaSubject?: QuotaSubject | undefined;
    /** Whether the request was admitted and used no quota. */
    isUncounted?: boolean | undefined;
    /** Whether the log has no line for the request. */
    isUnlogged?: boolean | undefined;
    /** The operation that the request has reached after all global guards. */
    operation?: RegisteredOperation | undefined;
    /** The `Link` that guards have set, such as that of a deprecation. */
    linkOfGuards?: string | undefined;
    /** The cache for the result of a handler with `@Cached()`, and the versions of the data that the request must see. */
    cached?: { readonly in: ResponseCache; readonly versions: Versions } | undefined;
    /** What a handler with `@Idempotent()` needs for a request with an `Idempotency-Key`. */
    idempotent?: IdempotentRequest | undefined;
    /** The precondition of the request, for a handler with `@IfMatch()`. */
    precondition?: Precondition | undefined;
    /** Makes the page for browsers when no route has the path of the request. */
    missingPage?: (() => string) | undefined;
    /** The route of a page or file that is served after all routes. */
    servedRoute?: string | undefined;
    /** The exception that a filter handles; that of the service, where a driver or a middleware has thrown another. */
    exception?: unknown;
    /** The code of the Error body that the request was refused with. */
    refusalCode?: string | undefined;
  }
}
