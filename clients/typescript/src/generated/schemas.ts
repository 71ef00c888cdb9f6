// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.
export interface components {
    schemas: {
        /** An animal to add. */
        NewPet: {
            /** The animal’s name. At least one visible character; no NUL and no half of a surrogate pair */
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
            /** The animal’s name. At least one visible character; no NUL and no half of a surrogate pair */
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
             * Client that the key belongs to
             */
            clientId: string;
            /** The beginning of the key */
            prefix: string;
            /** What people call it */
            label: string | null;
            scopes: string[];
            /**
             * Format: date-time
             * When it was issued
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it ends; null for never
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * When it was revoked; null if it was not
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * When it was last used, to the minute; null for never
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
             * Client that the key belongs to
             */
            clientId: string;
            /** The beginning of the key */
            prefix: string;
            /** What people call it */
            label: string | null;
            scopes: string[];
            /**
             * Format: date-time
             * When it was issued
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it ends; null for never
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * When it was revoked; null if it was not
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * When it was last used, to the minute; null for never
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
        /** A key that is banned for a while because it kept sending after 429. */
        Ban: {
            /** Format: uuid */
            keyId: string;
            /**
             * Format: date-time
             * When the ban ends
             */
            bannedUntil: string;
        };
        /** An account that holds a plan and owns keys. */
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
             * When it was made
             */
            createdAt: string;
            /**
             * Format: date-time
             * Since when its keys are refused; null while they are not
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
             * When it was made
             */
            createdAt: string;
            /**
             * Format: date-time
             * Since when its keys are refused; null while they are not
             */
            suspendedAt: string | null;
            /** The minute and the day as the answering process counts them; with Redis, as all do */
            windows: components["schemas"]["WindowUse"][];
            /** Its keys that are banned */
            bans: components["schemas"]["Ban"][];
            /**
             * Format: date-time
             * When any of its keys was last used, to the minute
             */
            lastUsedAt: string | null;
            /** Requests in each UTC day, today first */
            days: components["schemas"]["DayUse"][];
            /** What came of its requests in those days, most first */
            outcomes: components["schemas"]["OutcomeUse"][];
            /** Its calls of deprecated operations in those days */
            deprecatedCalls: components["schemas"]["DeprecatedUse"][];
            /** Requests in each of the last 60 minutes, this one first */
            minutes: components["schemas"]["MinuteUse"][];
            /** What came of its requests by key and operation, most first, at most 200 */
            operations: components["schemas"]["OperationUse"][];
        };
        /** The requests of one UTC day. */
        DayUse: {
            /** Format: date */
            date: string;
            /** Requests admitted */
            requests: number;
            /** Requests refused with 429, beyond a limit or because the key is banned */
            refused: number;
        };
        /** @enum {string} */
        DeliveryState: "waiting" | "delivered" | "failed";
        /** Calls of one deprecated operation in the days shown. */
        DeprecatedUse: {
            /** @example GET /v1/pets/:petId */
            operation: string;
            /** @example 12 */
            calls: number;
            /**
             * Format: date
             * The last UTC day with calls
             */
            lastDay: string;
        };
        /** A key just issued. Its secret is shown this once. */
        IssuedKey: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * Client that the key belongs to
             */
            clientId: string;
            /** The beginning of the key */
            prefix: string;
            /** What people call it */
            label: string | null;
            scopes: string[];
            /**
             * Format: date-time
             * When it was issued
             */
            createdAt: string;
            /**
             * Format: date-time
             * When it ends; null for never
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * When it was revoked; null if it was not
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * When it was last used, to the minute; null for never
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
            /** The key itself, to be sent as bearer token; only its SHA-256 is kept */
            key: string;
        };
        /** What to change of a key; what is left out stays as it is. */
        KeyChanges: {
            /** What people call the key. At least one visible character; no NUL and no half of a surrogate pair */
            label?: string | null;
            /** How long the key still lives; its end can be brought forward, never put off */
            expires?: string;
        };
        /** How to rotate a key. */
        KeyRotation: {
            /**
             * How long the old key still lives, never longer than its own end; 0 ends it at once
             * @default 24h
             */
            grace?: string;
            /** Lifetime of the new key, within that of the ordering key; default: as long as the old one was made for, or as the ordering key lives */
            expires?: string;
        };
        /** The requests of one minute. */
        MinuteUse: {
            /**
             * Format: date-time
             * When it began
             */
            minute: string;
            /** Requests admitted that used quota */
            requests: number;
            /** Requests refused with 429, beyond a limit or because the key is banned */
            refused: number;
        };
        /** A key to issue. */
        NewOwnKey: {
            /** Scopes of the key, none that the ordering key lacks; default: what the ordering key holds of the scopes that keys get by default */
            scopes?: string[];
            /** What people call the key. At least one visible character; no NUL and no half of a surrogate pair */
            label?: string;
            /** Lifetime, such as 90d, 12h or 30m, within that of the ordering key; default: as long as that, or no end */
            expires?: string;
        };
        /** A webhook endpoint to make. */
        NewOwnWebhookEndpoint: {
            /** Absolute address that messages are sent to, in its normal form: https, without user, password and fragment, and none of a private network. At least one visible character; no NUL and no half of a surrogate pair */
            url: string;
            /** The events it is sent; the key must have the scope of each */
            events: string[];
            /** What people call the endpoint. At least one visible character; no NUL and no half of a surrogate pair */
            label?: string;
        };
        /** What came of the requests of one key to one operation. */
        OperationUse: {
            /** `2xx` or `304`, with ` uncounted` behind it if it used no quota, or status and code of an error */
            outcome: string;
            /** Requests in the days shown */
            requests: number;
            /** Requests in the last 60 minutes */
            lastHour: number;
            /** The median of their durations in the days shown, in milliseconds, from a histogram */
            p50Ms: number | null;
            /** The 99th percentile */
            p99Ms: number | null;
            /** Format: uuid */
            keyId: string;
            /** Method and route */
            operation: string;
        };
        /** What came of requests: how often, and how long they took. */
        OutcomeUse: {
            /** `2xx` or `304`, with ` uncounted` behind it if it used no quota, or status and code of an error */
            outcome: string;
            /** Requests in the days shown */
            requests: number;
            /** Requests in the last 60 minutes */
            lastHour: number;
            /** The median of their durations in the days shown, in milliseconds, from a histogram */
            p50Ms: number | null;
            /** The 99th percentile */
            p99Ms: number | null;
        };
        /**
         * Plan that sets the limits
         * @enum {string}
         */
        Plan: "free" | "pro" | "business" | "enterprise";
        /** A request with a valid key that was answered with an error. */
        RefusedRequest: {
            /**
             * Format: date-time
             * When it was answered
             */
            at: string;
            /** `X-Request-Id`, which a client may send more than once */
            requestId: string;
            /** Format: uuid */
            clientId: string;
            /**
             * Format: uuid
             * Null for another credential
             */
            keyId: string | null;
            /** Method and route */
            operation: string;
            /** Status of the response; 499 where the client closed the connection before it */
            status: number;
            /** Code of the error; null where the response had none */
            code: string | null;
            /** Address of the caller */
            address: string | null;
        };
        RefusedRequests: components["schemas"]["RefusedRequest"][];
        WebhookDeliveries: components["schemas"]["WebhookDelivery"][];
        /** A message for one endpoint, and what became of it. */
        WebhookDelivery: {
            /** Format: int64 */
            id: bigint;
            /**
             * Format: uuid
             * The endpoint
             */
            endpointId: string;
            /** `webhook-id` of every attempt; a redelivery has it, too */
            messageId: string;
            /** Name of the event */
            event: string;
            /** It is waiting, got a 2xx response, or was given up */
            state: components["schemas"]["DeliveryState"];
            /** How often it was sent */
            attempts: number;
            /** HTTP status of the response to the last attempt; null if there was no response */
            status: number | null;
            /** Why the last attempt failed; null if it did not */
            error: string | null;
            /**
             * Format: date-time
             * When it happened
             */
            happenedAt: string;
            /**
             * Format: date-time
             * When it was last sent; null while it was not
             */
            attemptedAt: string | null;
        };
        /** A delivery with what is sent. */
        WebhookDeliveryWithPayload: {
            /** Format: int64 */
            id: bigint;
            /**
             * Format: uuid
             * The endpoint
             */
            endpointId: string;
            /** `webhook-id` of every attempt; a redelivery has it, too */
            messageId: string;
            /** Name of the event */
            event: string;
            /** It is waiting, got a 2xx response, or was given up */
            state: components["schemas"]["DeliveryState"];
            /** How often it was sent */
            attempts: number;
            /** HTTP status of the response to the last attempt; null if there was no response */
            status: number | null;
            /** Why the last attempt failed; null if it did not */
            error: string | null;
            /**
             * Format: date-time
             * When it happened
             */
            happenedAt: string;
            /**
             * Format: date-time
             * When it was last sent; null while it was not
             */
            attemptedAt: string | null;
            /** The body as it is sent, which the signature is made of: JSON text with `type`, `timestamp` and `data` */
            payload: string;
        };
        /** An address of a client that is sent messages. */
        WebhookEndpoint: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * Client that the endpoint belongs to
             */
            clientId: string;
            /** Where messages are sent */
            url: string;
            /** What people call it */
            label: string | null;
            /** The events it is sent */
            events: string[];
            /** Whether it is sent messages */
            enabled: boolean;
            /**
             * Format: date-time
             * Since when it is sent nothing; null while it is enabled
             */
            disabledAt: string | null;
            /**
             * Why it is sent nothing: by its `owner` or an `operator`; it was `failing` for three days; it responded 410 (`gone`)
             * @enum {string|null}
             */
            disabledBecause: "owner" | "operator" | "failing" | "gone" | null;
            /**
             * Format: date-time
             * Since when the message that is next fails; null while it does not
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * Until when a secret before the present one signs, too; null for no more
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * When it was made
             */
            createdAt: string;
        };
        /** What to change of a webhook endpoint; what is left out stays as it is. */
        WebhookEndpointChanges: {
            /** Absolute address that messages are sent to, in its normal form: https, without user, password and fragment, and none of a private network. At least one visible character; no NUL and no half of a surrogate pair */
            url?: string;
            /** The events it is sent; the key must have the scope of each */
            events?: string[];
            /** What people call the endpoint. At least one visible character; no NUL and no half of a surrogate pair */
            label?: string | null;
            /** Whether it is sent messages; when enabled again, it continues with the next message */
            enabled?: boolean;
        };
        /** An endpoint, and how much waits for it. */
        WebhookEndpointState: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * Client that the endpoint belongs to
             */
            clientId: string;
            /** Where messages are sent */
            url: string;
            /** What people call it */
            label: string | null;
            /** The events it is sent */
            events: string[];
            /** Whether it is sent messages */
            enabled: boolean;
            /**
             * Format: date-time
             * Since when it is sent nothing; null while it is enabled
             */
            disabledAt: string | null;
            /**
             * Why it is sent nothing: by its `owner` or an `operator`; it was `failing` for three days; it responded 410 (`gone`)
             * @enum {string|null}
             */
            disabledBecause: "owner" | "operator" | "failing" | "gone" | null;
            /**
             * Format: date-time
             * Since when the message that is next fails; null while it does not
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * Until when a secret before the present one signs, too; null for no more
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * When it was made
             */
            createdAt: string;
            /** Messages that it has not been sent yet */
            waiting: number;
        };
        /** An endpoint whose secret was just made. It is shown this once. */
        WebhookEndpointWithSecret: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * Client that the endpoint belongs to
             */
            clientId: string;
            /** Where messages are sent */
            url: string;
            /** What people call it */
            label: string | null;
            /** The events it is sent */
            events: string[];
            /** Whether it is sent messages */
            enabled: boolean;
            /**
             * Format: date-time
             * Since when it is sent nothing; null while it is enabled
             */
            disabledAt: string | null;
            /**
             * Why it is sent nothing: by its `owner` or an `operator`; it was `failing` for three days; it responded 410 (`gone`)
             * @enum {string|null}
             */
            disabledBecause: "owner" | "operator" | "failing" | "gone" | null;
            /**
             * Format: date-time
             * Since when the message that is next fails; null while it does not
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * Until when a secret before the present one signs, too; null for no more
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * When it was made
             */
            createdAt: string;
            /** What signs its messages, to verify them with (Standard Webhooks 1.0) */
            secret: string;
        };
        WebhookEndpoints: components["schemas"]["WebhookEndpoint"][];
        /** An event that endpoints can subscribe to. */
        WebhookEvent: {
            /** @example pets.created */
            name: string;
            /** When it happens */
            description: string;
            /** Scope that a key needs to subscribe an endpoint to it; null if any key may */
            scope: string | null;
        };
        WebhookEvents: components["schemas"]["WebhookEvent"][];
        /** How to rotate the secret of a webhook endpoint. */
        WebhookSecretRotation: {
            /**
             * How long the old secret signs besides the new one; those before it do until their own ends. 0 ends all old ones at once
             * @default 24h
             */
            grace?: string;
        };
        /** The current state of one window of a client’s quota. */
        WindowUse: {
            /** @example minute */
            name: string;
            /** Requests allowed in it */
            limit: number;
            /** Requests admitted in it */
            used: number;
            /** Requests left in it */
            remaining: number;
            /**
             * Format: date-time
             * When it is full again
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
                /** Where the page begins: taken from the `Link` with rel `next` of the page before */
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
                /** How many UTC days to show, today among them */
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
                /** Most entries of a page */
                limit?: number;
                /** Where the page begins: taken from the `Link` with rel `next` of the page before */
                cursor?: string;
                /** Only requests with this `X-Request-Id`. At least one visible character; no NUL and no half of a surrogate pair */
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
                /** Most entries of a page */
                limit?: number;
                /** Where the page begins: taken from the `Link` with rel `next` of the page before */
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
            /** The key, with its secret this once */
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
            /** The key as it is now */
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
            /** The new key, with its secret this once */
            201: {
                content: {
                    "application/json": components["schemas"]["IssuedKey"];
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
            /** The key as it is now */
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
                /** Most entries of a page */
                limit?: number;
                /** Where the page begins: taken from the `Link` with rel `next` of the page before */
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
            /** The endpoint, with its secret this once */
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
            /** The endpoint as it was */
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
            /** The endpoint as it is now */
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
            /** The endpoint, with its new secret this once */
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
                /** Most entries of a page */
                limit?: number;
                /** Where the page begins: taken from the `Link` with rel `next` of the page before */
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
    listOwnWebhookEvents: {
        parameters: {
        };
        responses: {
            /** The events, by name */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookEvents"];
                };
            };
        };
    };
}
