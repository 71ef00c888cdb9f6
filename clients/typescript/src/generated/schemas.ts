// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.
export interface components {
    schemas: {
        /** An animal to add. */
        NewPet: {
            /** The animal’s name. Must not be blank, or contain NUL or unpaired surrogates */
            name: string;
            /**
             * Format: int64
             * Identifier of the category the animal belongs to
             */
            categoryId: bigint;
            /**
             * Availability of the animal
             * @default available
             */
            status?: components["schemas"]["PetStatus"];
        };
        /** An animal offered in the store. */
        Pet: {
            /**
             * Format: int64
             * Unique identifier assigned by the service on creation
             */
            id: bigint;
            /** The animal’s name. Must not be blank, or contain NUL or unpaired surrogates */
            name: string;
            /**
             * Format: int64
             * Identifier of the category the animal belongs to
             */
            categoryId: bigint;
            /** Availability of the animal */
            status?: components["schemas"]["PetStatus"];
        };
        /** @enum {string} */
        PetStatus: "available" | "pending" | "sold";
        Pets: components["schemas"]["Pet"][];
        /** The client, and the key that was sent. */
        Account: {
            /** The client with its plan and limits */
            client: components["schemas"]["Client"];
            /** The key of this request */
            key: components["schemas"]["ApiKeyState"];
        };
        /** A key of a client, without its secret. */
        ApiKey: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * The client that owns the key
             */
            clientId: string;
            /** Name of the client */
            clientName: string;
            /** The first characters of the key */
            prefix: string;
            /** A label that helps people to recognize it */
            label: string | null;
            scopes: string[];
            /**
             * Format: date-time
             * When it was issued
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it expires; null if it does not expire
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * When it was revoked; null if it was not
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * When it was last used, to the minute; null if it was never used
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
        };
        /** A key of a client, and whether it is banned. */
        ApiKeyState: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * The client that owns the key
             */
            clientId: string;
            /** Name of the client */
            clientName: string;
            /** The first characters of the key */
            prefix: string;
            /** A label that helps people to recognize it */
            label: string | null;
            scopes: string[];
            /**
             * Format: date-time
             * When it was issued
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it expires; null if it does not expire
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * When it was revoked; null if it was not
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * When it was last used, to the minute; null if it was never used
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
            /**
             * Format: date-time
             * When its ban ends; null if it is not banned
             */
            bannedUntil: string | null;
        };
        ApiKeys: components["schemas"]["ApiKey"][];
        /** A key that is temporarily banned because it kept sending requests after 429. */
        Ban: {
            /** Format: uuid */
            keyId: string;
            /** The first characters of the key */
            keyPrefix: string;
            /**
             * Format: date-time
             * When the ban ends
             */
            bannedUntil: string;
        };
        /** An account with a plan and API keys. */
        Client: {
            /** Format: uuid */
            id: string;
            /** @example My shop */
            name: string;
            /** Plan that sets the limits */
            plan: components["schemas"]["Plan"];
            /** Requests per minute */
            perMinute: number;
            /** Requests per UTC day */
            perDay: number;
            /**
             * Format: date-time
             * When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it was suspended; null if it is not suspended
             */
            suspendedAt: string | null;
        };
        /** A client and its usage by minute, key and operation. */
        ClientDetails: {
            /** Format: uuid */
            id: string;
            /** @example My shop */
            name: string;
            /** Plan that sets the limits */
            plan: components["schemas"]["Plan"];
            /** Requests per minute */
            perMinute: number;
            /** Requests per UTC day */
            perDay: number;
            /**
             * Format: date-time
             * When it was created
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it was suspended; null if it is not suspended
             */
            suspendedAt: string | null;
            /** The current minute and day, as counted by the responding process or, with Redis, by all processes */
            windows: components["schemas"]["WindowUse"][];
            /** Its banned keys */
            bans: components["schemas"]["Ban"][];
            /**
             * Format: date-time
             * When one of its keys was last used, to the minute
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * Earliest expiry of its keys that were not rotated, if within 7 days; otherwise null
             */
            keyExpiresAt: string | null;
            /** Requests in each UTC day, latest first */
            days: components["schemas"]["DayUse"][];
            /** Outcomes of its requests in these days, most frequent first */
            outcomes: components["schemas"]["OutcomeUse"][];
            /** Its calls to deprecated operations in these days */
            deprecatedCalls: components["schemas"]["DeprecatedUse"][];
            /** Requests in each of the last 60 minutes, latest first */
            minutes: components["schemas"]["MinuteUse"][];
            /** Outcomes of its requests by key and operation, most frequent first, at most 200 */
            operations: components["schemas"]["OperationUse"][];
        };
        /** The requests of one UTC day. */
        DayUse: {
            /** Format: date */
            date: string;
            /** Requests admitted */
            requests: number;
            /** Requests refused with 429, due to a limit or a ban */
            refused: number;
        };
        /** @enum {string} */
        DeliveryState: "waiting" | "delivered" | "failed";
        /** Calls to one deprecated operation in the days shown. */
        DeprecatedUse: {
            /** @example GET /account/keys */
            operation: string;
            /** @example 12 */
            calls: number;
            /**
             * Format: date
             * The last UTC day with calls
             */
            lastDay: string;
        };
        /** A new key with its secret, which is shown only in this response. */
        IssuedKey: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * The client that owns the key
             */
            clientId: string;
            /** Name of the client */
            clientName: string;
            /** The first characters of the key */
            prefix: string;
            /** A label that helps people to recognize it */
            label: string | null;
            scopes: string[];
            /**
             * Format: date-time
             * When it was issued
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it expires; null if it does not expire
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * When it was revoked; null if it was not
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * When it was last used, to the minute; null if it was never used
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
            /** The key to send as a bearer token; the service stores only its SHA-256 */
            key: string;
        };
        /** Changes to a key; omitted fields do not change. */
        KeyChanges: {
            /** A label that helps people to recognize it. Must not be blank, or contain NUL or unpaired surrogates */
            label?: string | null;
            /** Remaining lifetime of the key, which can only be shortened */
            expires?: string;
        };
        /** Parameters of a key rotation. */
        KeyRotation: {
            /**
             * How long the old key remains valid, at most until its own expiry; 0 revokes it immediately
             * @default 24h
             */
            grace?: string;
            /** Lifetime of the new key, at most that of the calling key; default: the original lifetime of the old key */
            expires?: string;
        };
        /** The requests of one minute. */
        MinuteUse: {
            /**
             * Format: date-time
             * Start of the minute
             */
            minute: string;
            /** Requests admitted that used quota */
            requests: number;
            /** Requests refused with 429, due to a limit or a ban */
            refused: number;
        };
        /** The scopes, label and lifetime of a new key. */
        NewOwnKey: {
            /** Scopes of the new key. The calling key must have each of them. Default: the default scopes that the calling key has */
            scopes?: string[];
            /** A label that helps people to recognize it. Must not be blank, or contain NUL or unpaired surrogates */
            label?: string;
            /** Lifetime, such as 90d, 12h or 30m, at most that of the calling key; default: the lifetime of the calling key */
            expires?: string;
        };
        /** The URL, events and label of a new webhook endpoint. */
        NewOwnWebhookEndpoint: {
            /** URL that messages are sent to, in its normal form: https, a public host, and no user, password or fragment. Must not be blank, or contain NUL or unpaired surrogates */
            url: string;
            /** Events that it receives; the key must have the scope of each */
            events: string[];
            /** A label that helps people to recognize it. Must not be blank, or contain NUL or unpaired surrogates */
            label?: string;
        };
        /** Outcomes of the requests of a key to an operation. */
        OperationUse: {
            /** `2xx`, `304`, or the status and code of an error, followed by ` uncounted` if the request used no quota */
            outcome: string;
            /** Requests in the days shown */
            requests: number;
            /** Requests in the last 60 minutes */
            lastHour: number;
            /** Median duration in the days shown, in milliseconds, estimated from a histogram */
            p50Ms: number | null;
            /** 99th percentile of the durations */
            p99Ms: number | null;
            /**
             * Format: uuid
             * Null for requests that are not counted separately
             */
            keyId: string | null;
            /** The first characters of the key; null without a key, or if it was deleted */
            keyPrefix: string | null;
            /** Method and route. `unmatched` if no route matches. `other` for further kinds of requests after the first 1,000 of the client in a day, or 200 in a minute. Of these, only the class of the outcome is counted, such as `4xx` */
            operation: string;
        };
        /** The number and duration of requests with the same outcome. */
        OutcomeUse: {
            /** `2xx`, `304`, or the status and code of an error, followed by ` uncounted` if the request used no quota */
            outcome: string;
            /** Requests in the days shown */
            requests: number;
            /** Requests in the last 60 minutes */
            lastHour: number;
            /** Median duration in the days shown, in milliseconds, estimated from a histogram */
            p50Ms: number | null;
            /** 99th percentile of the durations */
            p99Ms: number | null;
        };
        /**
         * Plan that sets the limits
         * @enum {string}
         */
        Plan: "free" | "pro" | "business" | "enterprise";
        /** A request that was sent with a client’s key and returned an error. */
        RefusedRequest: {
            /**
             * Format: date-time
             * When the response was sent
             */
            at: string;
            /** `X-Request-Id`; not unique, because clients can choose it */
            requestId: string;
            /** Format: uuid */
            clientId: string;
            /** Name of the client; null if it was deleted */
            clientName: string | null;
            /**
             * Format: uuid
             * Null for a credential other than an API key
             */
            keyId: string | null;
            /** The first characters of the key */
            keyPrefix: string | null;
            /** Method and route */
            operation: string;
            /** Status of the response; 499 if the client closed the connection first */
            status: number;
            /** Code of the error; null if the response had none */
            code: string | null;
            /** IP address of the caller */
            address: string | null;
        };
        RefusedRequests: components["schemas"]["RefusedRequest"][];
        /** A new key with its secret, which is shown only in this response, and when the old key stops working. */
        RotatedKey: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * The client that owns the key
             */
            clientId: string;
            /** Name of the client */
            clientName: string;
            /** The first characters of the key */
            prefix: string;
            /** A label that helps people to recognize it */
            label: string | null;
            scopes: string[];
            /**
             * Format: date-time
             * When it was issued
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it expires; null if it does not expire
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * When it was revoked; null if it was not
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * When it was last used, to the minute; null if it was never used
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
            /** The key to send as a bearer token; the service stores only its SHA-256 */
            key: string;
            /**
             * Format: date-time
             * When the old key stops working
             */
            oldExpiresAt: string;
        };
        /** An attempt to send a message. */
        WebhookAttempt: {
            /**
             * Format: date-time
             * When it ended
             */
            at: string;
            /** HTTP status of the response; null if there was no response */
            status: number | null;
            /** Why it failed; null if it did not */
            error: string | null;
            /** Milliseconds until the status of the response, or until it failed */
            durationMs: number;
            /** The first 500 bytes of the body of the response, with U+FFFD for control characters; null if there was no response. Under `/account` also null for a host that is not public */
            response: string | null;
        };
        WebhookDeliveries: components["schemas"]["WebhookDelivery"][];
        /** A message to an endpoint, and its state. */
        WebhookDelivery: {
            /** Format: int64 */
            id: bigint;
            /**
             * Format: uuid
             * The endpoint
             */
            endpointId: string;
            /** `webhook-id` of every attempt, including redeliveries */
            messageId: string;
            /** Name of the event */
            event: string;
            /** Whether it is waiting, was delivered (2xx), or has failed permanently */
            state: components["schemas"]["DeliveryState"];
            /** Number of attempts */
            attempts: number;
            /** HTTP status of the response to the last attempt; null if there was no response */
            status: number | null;
            /** Why the last attempt failed; null if it did not */
            error: string | null;
            /**
             * Format: date-time
             * When the event happened
             */
            happenedAt: string;
            /**
             * Format: date-time
             * When it was last sent; null if it has not been sent yet
             */
            attemptedAt: string | null;
            /** Messages that are sent before it, counted up to 10000; null if it is not waiting */
            waitingBefore: number | null;
            /**
             * Format: date-time
             * Earliest time of the next attempt, if the endpoint is failing. Null if the delivery is not waiting, if nothing delays it, or while the endpoint is disabled
             */
            nextAttemptAt: string | null;
        };
        /** A delivery with its body and its attempts. */
        WebhookDeliveryWithPayload: {
            /** Format: int64 */
            id: bigint;
            /**
             * Format: uuid
             * The endpoint
             */
            endpointId: string;
            /** `webhook-id` of every attempt, including redeliveries */
            messageId: string;
            /** Name of the event */
            event: string;
            /** Whether it is waiting, was delivered (2xx), or has failed permanently */
            state: components["schemas"]["DeliveryState"];
            /** Number of attempts */
            attempts: number;
            /** HTTP status of the response to the last attempt; null if there was no response */
            status: number | null;
            /** Why the last attempt failed; null if it did not */
            error: string | null;
            /**
             * Format: date-time
             * When the event happened
             */
            happenedAt: string;
            /**
             * Format: date-time
             * When it was last sent; null if it has not been sent yet
             */
            attemptedAt: string | null;
            /** Messages that are sent before it, counted up to 10000; null if it is not waiting */
            waitingBefore: number | null;
            /**
             * Format: date-time
             * Earliest time of the next attempt, if the endpoint is failing. Null if the delivery is not waiting, if nothing delays it, or while the endpoint is disabled
             */
            nextAttemptAt: string | null;
            /** The signed body: JSON text with `type`, `timestamp` and `data` */
            payload: string;
            /** Its last attempts, at most 10, oldest first */
            attemptLog: components["schemas"]["WebhookAttempt"][];
        };
        /**
         * Why it is disabled: by its `owner` or an `operator`, because it was `failing` for three days, or because it responded with 410 (`gone`)
         * @enum {string}
         */
        WebhookDisabledBecause: "owner" | "operator" | "failing" | "gone";
        /** A client’s URL that receives messages. */
        WebhookEndpoint: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * The client that owns the endpoint
             */
            clientId: string;
            /** Name of the client */
            clientName: string;
            /** URL that messages are sent to */
            url: string;
            /** A label that helps people to recognize it */
            label: string | null;
            /** Events that it receives */
            events: string[];
            /** Whether it receives messages */
            enabled: boolean;
            /**
             * Format: date-time
             * When it was disabled; null if it is enabled
             */
            disabledAt: string | null;
            /** Why it is disabled: by its `owner` or an `operator`, because it was `failing` for three days, or because it responded with 410 (`gone`) */
            disabledBecause: (string & components["schemas"]["WebhookDisabledBecause"]) | null;
            /**
             * Format: date-time
             * Time of the first failed attempt to send the next message, kept if the endpoint was disabled as `failing`; otherwise null
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * When the next attempt of a failing endpoint is due. Null if it is not failing or is disabled
             */
            nextAttemptAt: string | null;
            /** Why the last attempt failed, even if the endpoint has been disabled since; null if it did not fail */
            lastError: string | null;
            /**
             * Format: date-time
             * Time until which messages are also signed with an older secret; null if they are not
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * When it was created
             */
            createdAt: string;
        };
        /** Changes to a webhook endpoint; omitted fields do not change. */
        WebhookEndpointChanges: {
            /** URL that messages are sent to, in its normal form: https, a public host, and no user, password or fragment. Must not be blank, or contain NUL or unpaired surrogates */
            url?: string;
            /** Events that it receives; the key must have the scope of each */
            events?: string[];
            /** A label that helps people to recognize it. Must not be blank, or contain NUL or unpaired surrogates */
            label?: string | null;
            /** Whether it receives messages. When it is enabled again, it continues with the waiting messages. `true` has no effect on an enabled endpoint; to retry a failing endpoint, call `POST …/retry` */
            enabled?: boolean;
        };
        /** An endpoint, and the number of waiting messages. */
        WebhookEndpointState: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * The client that owns the endpoint
             */
            clientId: string;
            /** Name of the client */
            clientName: string;
            /** URL that messages are sent to */
            url: string;
            /** A label that helps people to recognize it */
            label: string | null;
            /** Events that it receives */
            events: string[];
            /** Whether it receives messages */
            enabled: boolean;
            /**
             * Format: date-time
             * When it was disabled; null if it is enabled
             */
            disabledAt: string | null;
            /** Why it is disabled: by its `owner` or an `operator`, because it was `failing` for three days, or because it responded with 410 (`gone`) */
            disabledBecause: (string & components["schemas"]["WebhookDisabledBecause"]) | null;
            /**
             * Format: date-time
             * Time of the first failed attempt to send the next message, kept if the endpoint was disabled as `failing`; otherwise null
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * When the next attempt of a failing endpoint is due. Null if it is not failing or is disabled
             */
            nextAttemptAt: string | null;
            /** Why the last attempt failed, even if the endpoint has been disabled since; null if it did not fail */
            lastError: string | null;
            /**
             * Format: date-time
             * Time until which messages are also signed with an older secret; null if they are not
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * When it was created
             */
            createdAt: string;
            /** Messages that have not been delivered yet */
            waiting: number;
        };
        /** An endpoint with its new secret, which is shown only in this response. */
        WebhookEndpointWithSecret: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * The client that owns the endpoint
             */
            clientId: string;
            /** Name of the client */
            clientName: string;
            /** URL that messages are sent to */
            url: string;
            /** A label that helps people to recognize it */
            label: string | null;
            /** Events that it receives */
            events: string[];
            /** Whether it receives messages */
            enabled: boolean;
            /**
             * Format: date-time
             * When it was disabled; null if it is enabled
             */
            disabledAt: string | null;
            /** Why it is disabled: by its `owner` or an `operator`, because it was `failing` for three days, or because it responded with 410 (`gone`) */
            disabledBecause: (string & components["schemas"]["WebhookDisabledBecause"]) | null;
            /**
             * Format: date-time
             * Time of the first failed attempt to send the next message, kept if the endpoint was disabled as `failing`; otherwise null
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * When the next attempt of a failing endpoint is due. Null if it is not failing or is disabled
             */
            nextAttemptAt: string | null;
            /** Why the last attempt failed, even if the endpoint has been disabled since; null if it did not fail */
            lastError: string | null;
            /**
             * Format: date-time
             * Time until which messages are also signed with an older secret; null if they are not
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * When it was created
             */
            createdAt: string;
            /** Secret for verifying its messages (Standard Webhooks 1.0) */
            secret: string;
        };
        WebhookEndpoints: components["schemas"]["WebhookEndpoint"][];
        /** An event that endpoints can subscribe to. */
        WebhookEvent: {
            /** @example quota.threshold */
            name: string;
            /** Description of the event */
            description: string;
            /** Scope that a key needs to subscribe an endpoint to this event; null if it needs none */
            scope: string | null;
        };
        WebhookEvents: components["schemas"]["WebhookEvent"][];
        /** Parameters of a secret rotation. */
        WebhookSecretRotation: {
            /**
             * How long messages are also signed with the old secret. Secrets from earlier rotations keep their own grace period. 0 invalidates all old secrets immediately
             * @default 24h
             */
            grace?: string;
        };
        /** The current state of one window of a client’s quota. */
        WindowUse: {
            /** @example minute */
            name: string;
            /** Requests allowed in the window */
            limit: number;
            /** Requests admitted in the window */
            used: number;
            /** Requests left in the window */
            remaining: number;
            /**
             * Format: date-time
             * When the full limit is available again
             */
            resetsAt: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    listPets: {
        parameters: {
            query?: {
                /** Maximum number of animals returned */
                limit?: number;
                /** Restrict the result to animals of this status */
                status?: components["schemas"]["PetStatus"];
                /** Start of the page, from the `Link` with rel `next` of the previous page */
                cursor?: string;
            };
        };
        responses: {
            /** A paginated list of animals */
            200: {
                content: {
                    "application/json": components["schemas"]["Pets"];
                };
            };
        };
    };
    createPet: {
        parameters: {
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** The created animal, including the assigned `id` */
            201: {
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
        };
    };
    getPet: {
        parameters: {
            path: {
                /** The identifier of the animal */
                petId: bigint;
            };
        };
        responses: {
            /** The animal */
            200: {
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
        };
        responses: {
            /** The client and the key */
            200: {
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    getAccountUsage: {
        parameters: {
            query?: {
                /** Number of UTC days to show, including today */
                days?: number;
            };
        };
        responses: {
            /** The client and its usage */
            200: {
                content: {
                    "application/json": components["schemas"]["ClientDetails"];
                };
            };
        };
    };
    listOwnRefusedRequests: {
        parameters: {
            query?: {
                /** Maximum number of entries per page */
                limit?: number;
                /** Start of the page, from the `Link` with rel `next` of the previous page */
                cursor?: string;
                /** Only requests with this `X-Request-Id`. Must not be blank, or contain NUL or unpaired surrogates */
                requestId?: string;
            };
        };
        responses: {
            /** A page of requests */
            200: {
                content: {
                    "application/json": components["schemas"]["RefusedRequests"];
                };
            };
        };
    };
    listOwnKeys: {
        parameters: {
            query?: {
                /** Maximum number of entries per page */
                limit?: number;
                /** Start of the page, from the `Link` with rel `next` of the previous page */
                cursor?: string;
            };
        };
        responses: {
            /** A page of keys */
            200: {
                content: {
                    "application/json": components["schemas"]["ApiKeys"];
                };
            };
        };
    };
    issueOwnKey: {
        parameters: {
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOwnKey"];
            };
        };
        responses: {
            /** The key with its secret, which is shown only in this response */
            201: {
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
                };
            };
        };
    };
    getOwnKey: {
        parameters: {
            path: {
                /** Id of the key */
                keyId: string;
            };
        };
        responses: {
            /** The key */
            200: {
                content: {
                    "application/json": components["schemas"]["ApiKeyState"];
                };
            };
        };
    };
    updateOwnKey: {
        parameters: {
            path: {
                /** Id of the key */
                keyId: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyChanges"];
            };
        };
        responses: {
            /** The updated key */
            200: {
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    rotateOwnKey: {
        parameters: {
            path: {
                /** Id of the key */
                keyId: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** The new key with its secret, which is shown only in this response */
            201: {
                content: {
                    "application/json": components["schemas"]["RotatedKey"];
                };
            };
        };
    };
    revokeOwnKey: {
        parameters: {
            path: {
                /** Id of the key */
                keyId: string;
            };
        };
        responses: {
            /** The updated key */
            200: {
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    listOwnWebhooks: {
        parameters: {
            query?: {
                /** Maximum number of entries per page */
                limit?: number;
                /** Start of the page, from the `Link` with rel `next` of the previous page */
                cursor?: string;
            };
        };
        responses: {
            /** A page of endpoints */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoints"];
                };
            };
        };
    };
    createOwnWebhook: {
        parameters: {
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOwnWebhookEndpoint"];
            };
        };
        responses: {
            /** The endpoint with its secret, which is shown only in this response */
            201: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    getOwnWebhook: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
            };
        };
        responses: {
            /** The endpoint */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointState"];
                };
            };
        };
    };
    deleteOwnWebhook: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
            };
        };
        responses: {
            /** The deleted endpoint */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    updateOwnWebhook: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointChanges"];
            };
        };
        responses: {
            /** The updated endpoint */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    rotateOwnWebhookSecret: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookSecretRotation"];
            };
        };
        responses: {
            /** The endpoint with its new secret, which is shown only in this response */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    listOwnWebhookDeliveries: {
        parameters: {
            query?: {
                /** Maximum number of entries per page */
                limit?: number;
                /** Start of the page, from the `Link` with rel `next` of the previous page */
                cursor?: string;
                /** Only deliveries in this state */
                state?: components["schemas"]["DeliveryState"];
            };
            path: {
                /** Id of the endpoint */
                endpointId: string;
            };
        };
        responses: {
            /** A page of deliveries */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookDeliveries"];
                };
            };
        };
    };
    getOwnWebhookDelivery: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
                /** Id of the delivery */
                deliveryId: bigint;
            };
        };
        responses: {
            /** The delivery */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryWithPayload"];
                };
            };
        };
    };
    redeliverOwnWebhook: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
                /** Id of the delivery */
                deliveryId: bigint;
            };
        };
        responses: {
            /** The new delivery */
            201: {
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    testOwnWebhook: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
            };
        };
        responses: {
            /** The delivery of the test */
            201: {
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    retryOwnWebhook: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
            };
        };
        responses: {
            /** The endpoint */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEndpointState"];
                };
            };
        };
    };
    retryOwnWebhookDelivery: {
        parameters: {
            path: {
                /** Id of the endpoint */
                endpointId: string;
                /** Id of the delivery */
                deliveryId: bigint;
            };
        };
        responses: {
            /** The delivery */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    listOwnWebhookEvents: {
        parameters: {
        };
        responses: {
            /** The events, sorted by name */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEvents"];
                };
            };
        };
    };
}
