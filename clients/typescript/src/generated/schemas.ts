// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.
export interface components<Int64> {
    schemas: {
        /** @description An animal to add. */
        NewPet: {
            /**
             * @description The animal’s name. At least one visible character; no NUL and no half of a surrogate pair
             * @example Biscuit
             */
            name: string;
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to
             * @example 1
             */
            categoryId: Int64;
            /**
             * @description Availability of the animal
             * @default available
             */
            status?: components<Int64>["schemas"]["PetStatus"];
        };
        /** @description An animal offered in the store. */
        Pet: {
            /**
             * Format: int64
             * @description Unique identifier assigned by the service on creation
             * @example 1
             */
            id: Int64;
            /**
             * @description The animal’s name. At least one visible character; no NUL and no half of a surrogate pair
             * @example Biscuit
             */
            name: string;
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to
             * @example 1
             */
            categoryId: Int64;
            /** @description Availability of the animal */
            status?: components<Int64>["schemas"]["PetStatus"];
        };
        /** @enum {string} */
        PetStatus: "available" | "pending" | "sold";
        Pets: components<Int64>["schemas"]["Pet"][];
        /** @description The client, and the key that was sent. */
        Account: {
            /** @description The client with its plan and limits */
            client: components<Int64>["schemas"]["Client"];
            /** @description The key of this request */
            key: components<Int64>["schemas"]["ApiKeyState"];
        };
        /** @description A key of a client, without its secret. */
        ApiKey: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Client that the key belongs to
             */
            clientId: string;
            /**
             * @description The beginning of the key
             * @example pst_live_4fTz
             */
            prefix: string;
            /**
             * @description What people call it
             * @example Web shop
             */
            label: string | null;
            /**
             * @example [
             *       "pets:read"
             *     ]
             */
            scopes: string[];
            /**
             * Format: date-time
             * @description When it was issued
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ends; null for never
             * @example 2026-11-20T12:00:00.000Z
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; null if it was not
             * @example 2026-11-20T12:00:00.000Z
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to the minute; null for never
             * @example 2026-11-20T12:00:00.000Z
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * @description The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
        };
        /** @description A key of a client, and whether it is banned. */
        ApiKeyState: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Client that the key belongs to
             */
            clientId: string;
            /**
             * @description The beginning of the key
             * @example pst_live_4fTz
             */
            prefix: string;
            /**
             * @description What people call it
             * @example Web shop
             */
            label: string | null;
            /**
             * @example [
             *       "pets:read"
             *     ]
             */
            scopes: string[];
            /**
             * Format: date-time
             * @description When it was issued
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ends; null for never
             * @example 2026-11-20T12:00:00.000Z
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; null if it was not
             * @example 2026-11-20T12:00:00.000Z
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to the minute; null for never
             * @example 2026-11-20T12:00:00.000Z
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * @description The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
            /**
             * Format: date-time
             * @description When its ban ends; null if it is not banned
             * @example 2026-11-20T12:00:00.000Z
             */
            bannedUntil: string | null;
        };
        ApiKeys: components<Int64>["schemas"]["ApiKey"][];
        /** @description A key that is banned for a while because it kept sending after 429. */
        Ban: {
            /** Format: uuid */
            keyId: string;
            /**
             * Format: date-time
             * @description When the ban ends
             * @example 2026-11-20T12:00:00.000Z
             */
            bannedUntil: string;
        };
        /** @description An account that holds a plan and owns keys. */
        Client: {
            /** Format: uuid */
            id: string;
            /** @example My shop */
            name: string;
            /** @description Plan that sets the limits */
            plan: components<Int64>["schemas"]["Plan"];
            /**
             * @description Requests per minute
             * @example 300
             */
            perMinute: number;
            /**
             * @description Requests per UTC day
             * @example 10000
             */
            perDay: number;
            /**
             * Format: date-time
             * @description When it was made
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Since when its keys are refused; null while they are not
             * @example 2026-11-20T12:00:00.000Z
             */
            suspendedAt: string | null;
        };
        /** @description A client with what it has used. */
        ClientUsage: {
            /** Format: uuid */
            id: string;
            /** @example My shop */
            name: string;
            /** @description Plan that sets the limits */
            plan: components<Int64>["schemas"]["Plan"];
            /**
             * @description Requests per minute
             * @example 300
             */
            perMinute: number;
            /**
             * @description Requests per UTC day
             * @example 10000
             */
            perDay: number;
            /**
             * Format: date-time
             * @description When it was made
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Since when its keys are refused; null while they are not
             * @example 2026-11-20T12:00:00.000Z
             */
            suspendedAt: string | null;
            /** @description The minute and the day as the answering process counts them; with Redis, as all do */
            windows: components<Int64>["schemas"]["WindowUse"][];
            /** @description Its keys that are banned */
            bans: components<Int64>["schemas"]["Ban"][];
            /**
             * Format: date-time
             * @description When any of its keys was last used, to the minute
             * @example 2026-11-20T12:00:00.000Z
             */
            lastUsedAt: string | null;
            /** @description Requests admitted in each UTC day, today first */
            days: components<Int64>["schemas"]["DayUse"][];
            /** @description Its calls of deprecated operations in those days */
            deprecatedCalls: components<Int64>["schemas"]["DeprecatedUse"][];
        };
        /** @description Requests admitted in one UTC day. */
        DayUse: {
            /**
             * Format: date
             * @example 2026-11-20
             */
            date: string;
            /** @example 640 */
            requests: number;
        };
        /** @enum {string} */
        DeliveryState: "waiting" | "delivered" | "failed";
        /** @description Calls of one deprecated operation in the days shown. */
        DeprecatedUse: {
            /** @example GET /v1/pets/:petId */
            operation: string;
            /** @example 12 */
            calls: number;
            /**
             * Format: date
             * @description The last UTC day with calls
             * @example 2026-11-20
             */
            lastDay: string;
        };
        /** @description A key just issued. Its secret is shown this once. */
        IssuedKey: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Client that the key belongs to
             */
            clientId: string;
            /**
             * @description The beginning of the key
             * @example pst_live_4fTz
             */
            prefix: string;
            /**
             * @description What people call it
             * @example Web shop
             */
            label: string | null;
            /**
             * @example [
             *       "pets:read"
             *     ]
             */
            scopes: string[];
            /**
             * Format: date-time
             * @description When it was issued
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ends; null for never
             * @example 2026-11-20T12:00:00.000Z
             */
            expiresAt: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; null if it was not
             * @example 2026-11-20T12:00:00.000Z
             */
            revokedAt: string | null;
            /**
             * Format: date-time
             * @description When it was last used, to the minute; null for never
             * @example 2026-11-20T12:00:00.000Z
             */
            lastUsedAt: string | null;
            /**
             * Format: uuid
             * @description The key that it was rotated to; null if it was not
             */
            replacedBy: string | null;
            /**
             * @description The key itself, to be sent as bearer token; only its SHA-256 is kept
             * @example pst_live_…
             */
            key: string;
        };
        /** @description What to change of a key; what is left out stays as it is. */
        KeyChanges: {
            /**
             * @description What people call the key. At least one visible character; no NUL and no half of a surrogate pair
             * @example Web shop
             */
            label?: string | null;
            /**
             * @description How long the key still lives; its end can be brought forward, never put off
             * @example 7d
             */
            expires?: string;
        };
        /** @description How to rotate a key. */
        KeyRotation: {
            /**
             * @description How long the old key still lives, never longer than its own end; 0 ends it at once
             * @default 24h
             * @example 24h
             */
            grace?: string;
            /**
             * @description Lifetime of the new key, within that of the ordering key; default: as long as the old one was made for, or as the ordering key lives
             * @example 90d
             */
            expires?: string;
        };
        /** @description A key to issue. */
        NewOwnKey: {
            /**
             * @description Scopes of the key, none that the ordering key lacks; default: what the ordering key holds of the scopes that keys get by default
             * @example [
             *       "pets:read"
             *     ]
             */
            scopes?: string[];
            /**
             * @description What people call the key. At least one visible character; no NUL and no half of a surrogate pair
             * @example Web shop
             */
            label?: string;
            /**
             * @description Lifetime, such as 90d, 12h or 30m, within that of the ordering key; default: as long as that, or no end
             * @example 90d
             */
            expires?: string;
        };
        /** @description A webhook endpoint to make. */
        NewOwnWebhookEndpoint: {
            /**
             * @description Absolute address that messages are sent to, in its normal form: https, without user, password and fragment, and none of a private network. At least one visible character; no NUL and no half of a surrogate pair
             * @example https://shop.example.com/webhooks
             */
            url: string;
            /**
             * @description What it is told of, each told for a scope that the ordering key holds
             * @example [
             *       "pets.created"
             *     ]
             */
            events: string[];
            /**
             * @description What people call the endpoint. At least one visible character; no NUL and no half of a surrogate pair
             * @example Web shop
             */
            label?: string;
        };
        /**
         * @description Plan that sets the limits
         * @enum {string}
         */
        Plan: "free" | "pro" | "business" | "enterprise";
        WebhookDeliveries: components<Int64>["schemas"]["WebhookDelivery"][];
        /** @description A message for one endpoint, and what became of it. */
        WebhookDelivery: {
            /**
             * Format: int64
             * @example 7
             */
            id: Int64;
            /**
             * Format: uuid
             * @description The endpoint
             */
            endpointId: string;
            /**
             * @description `webhook-id` of every attempt; a redelivery has it, too
             * @example msg_1f0c8d7e5a9b4c3d2e1f0a9b8c7d6e5f
             */
            messageId: string;
            /**
             * @description What it tells
             * @example pets.created
             */
            event: string;
            /** @description It waits, was answered with 2xx, or was given up */
            state: components<Int64>["schemas"]["DeliveryState"];
            /**
             * @description How often it was sent
             * @example 1
             */
            attempts: number;
            /**
             * @description HTTP status that the last attempt was answered with; null where there was none
             * @example 200
             */
            status: number | null;
            /** @description Why the last attempt failed; null if it did not */
            error: string | null;
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-11-20T12:00:00.000Z
             */
            happenedAt: string;
            /**
             * Format: date-time
             * @description When it was last sent; null while it was not
             * @example 2026-11-20T12:00:00.000Z
             */
            attemptedAt: string | null;
        };
        /** @description A delivery with what is sent. */
        WebhookDeliveryWithPayload: {
            /**
             * Format: int64
             * @example 7
             */
            id: Int64;
            /**
             * Format: uuid
             * @description The endpoint
             */
            endpointId: string;
            /**
             * @description `webhook-id` of every attempt; a redelivery has it, too
             * @example msg_1f0c8d7e5a9b4c3d2e1f0a9b8c7d6e5f
             */
            messageId: string;
            /**
             * @description What it tells
             * @example pets.created
             */
            event: string;
            /** @description It waits, was answered with 2xx, or was given up */
            state: components<Int64>["schemas"]["DeliveryState"];
            /**
             * @description How often it was sent
             * @example 1
             */
            attempts: number;
            /**
             * @description HTTP status that the last attempt was answered with; null where there was none
             * @example 200
             */
            status: number | null;
            /** @description Why the last attempt failed; null if it did not */
            error: string | null;
            /**
             * Format: date-time
             * @description When it happened
             * @example 2026-11-20T12:00:00.000Z
             */
            happenedAt: string;
            /**
             * Format: date-time
             * @description When it was last sent; null while it was not
             * @example 2026-11-20T12:00:00.000Z
             */
            attemptedAt: string | null;
            /**
             * @description The body as it is sent, which the signature is made of: JSON text with `type`, `timestamp` and `data`
             * @example {"type":"webhook.test","timestamp":"2026-11-20T12:00:00.000Z","data":{}}
             */
            payload: string;
        };
        /** @description An address of a client that is sent messages. */
        WebhookEndpoint: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Client that the endpoint belongs to
             */
            clientId: string;
            /**
             * @description Where messages are sent
             * @example https://shop.example.com/webhooks
             */
            url: string;
            /**
             * @description What people call it
             * @example Web shop
             */
            label: string | null;
            /**
             * @description What it is told of
             * @example [
             *       "pets.created"
             *     ]
             */
            events: string[];
            /** @description Whether it is sent messages */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when it is sent nothing; null while it is enabled
             * @example 2026-11-20T12:00:00.000Z
             */
            disabledAt: string | null;
            /**
             * @description Why it is sent nothing: by its `owner` or an `operator`; it was `failing` for three days; it answered 410 (`gone`)
             * @enum {string|null}
             */
            disabledBecause: "owner" | "operator" | "failing" | "gone" | null;
            /**
             * Format: date-time
             * @description Since when the message that is next fails; null while it does not
             * @example 2026-11-20T12:00:00.000Z
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description Until when a secret before the present one signs, too; null for no more
             * @example 2026-11-20T12:00:00.000Z
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * @description When it was made
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
        };
        /** @description What to change of a webhook endpoint; what is left out stays as it is. */
        WebhookEndpointChanges: {
            /**
             * @description Absolute address that messages are sent to, in its normal form: https, without user, password and fragment, and none of a private network. At least one visible character; no NUL and no half of a surrogate pair
             * @example https://shop.example.com/webhooks
             */
            url?: string;
            /**
             * @description What it is told of, each told for a scope that the ordering key holds
             * @example [
             *       "pets.created"
             *     ]
             */
            events?: string[];
            /**
             * @description What people call the endpoint. At least one visible character; no NUL and no half of a surrogate pair
             * @example Web shop
             */
            label?: string | null;
            /** @description Whether it is sent messages; enabled again, it goes on with the message that is next */
            enabled?: boolean;
        };
        /** @description An endpoint, and how much waits for it. */
        WebhookEndpointState: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Client that the endpoint belongs to
             */
            clientId: string;
            /**
             * @description Where messages are sent
             * @example https://shop.example.com/webhooks
             */
            url: string;
            /**
             * @description What people call it
             * @example Web shop
             */
            label: string | null;
            /**
             * @description What it is told of
             * @example [
             *       "pets.created"
             *     ]
             */
            events: string[];
            /** @description Whether it is sent messages */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when it is sent nothing; null while it is enabled
             * @example 2026-11-20T12:00:00.000Z
             */
            disabledAt: string | null;
            /**
             * @description Why it is sent nothing: by its `owner` or an `operator`; it was `failing` for three days; it answered 410 (`gone`)
             * @enum {string|null}
             */
            disabledBecause: "owner" | "operator" | "failing" | "gone" | null;
            /**
             * Format: date-time
             * @description Since when the message that is next fails; null while it does not
             * @example 2026-11-20T12:00:00.000Z
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description Until when a secret before the present one signs, too; null for no more
             * @example 2026-11-20T12:00:00.000Z
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * @description When it was made
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /**
             * @description Messages that it has not been sent yet
             * @example 0
             */
            waiting: number;
        };
        /** @description An endpoint whose secret was just made. It is shown this once. */
        WebhookEndpointWithSecret: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Client that the endpoint belongs to
             */
            clientId: string;
            /**
             * @description Where messages are sent
             * @example https://shop.example.com/webhooks
             */
            url: string;
            /**
             * @description What people call it
             * @example Web shop
             */
            label: string | null;
            /**
             * @description What it is told of
             * @example [
             *       "pets.created"
             *     ]
             */
            events: string[];
            /** @description Whether it is sent messages */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when it is sent nothing; null while it is enabled
             * @example 2026-11-20T12:00:00.000Z
             */
            disabledAt: string | null;
            /**
             * @description Why it is sent nothing: by its `owner` or an `operator`; it was `failing` for three days; it answered 410 (`gone`)
             * @enum {string|null}
             */
            disabledBecause: "owner" | "operator" | "failing" | "gone" | null;
            /**
             * Format: date-time
             * @description Since when the message that is next fails; null while it does not
             * @example 2026-11-20T12:00:00.000Z
             */
            failingSince: string | null;
            /**
             * Format: date-time
             * @description Until when a secret before the present one signs, too; null for no more
             * @example 2026-11-20T12:00:00.000Z
             */
            previousSecretUntil: string | null;
            /**
             * Format: date-time
             * @description When it was made
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /**
             * @description What signs its messages, to verify them with (Standard Webhooks 1.0)
             * @example whsec_…
             */
            secret: string;
        };
        WebhookEndpoints: components<Int64>["schemas"]["WebhookEndpoint"][];
        /** @description Something that endpoints can be told of. */
        WebhookEvent: {
            /** @example pets.created */
            name: string;
            /**
             * @description When it happens
             * @example An animal was added.
             */
            description: string;
            /**
             * @description Scope that a key needs to have an endpoint told of it; null where any key may
             * @example pets:read
             */
            scope: string | null;
        };
        WebhookEvents: components<Int64>["schemas"]["WebhookEvent"][];
        /** @description How to rotate the secret of a webhook endpoint. */
        WebhookSecretRotation: {
            /**
             * @description How long the old secret signs besides the new one; those before it do until their own ends. 0 ends all old ones at once
             * @default 24h
             * @example 24h
             */
            grace?: string;
        };
        /** @description One window of a client’s quota as it stands. */
        WindowUse: {
            /** @example minute */
            name: string;
            /**
             * @description Requests allowed in it
             * @example 300
             */
            limit: number;
            /**
             * @description Requests admitted in it
             * @example 12
             */
            used: number;
            /**
             * @description Requests left in it
             * @example 288
             */
            remaining: number;
            /**
             * Format: date-time
             * @description When it is full again
             * @example 2026-11-20T12:00:00.000Z
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
export interface operations<Int64> {
    listPets: {
        parameters: {
            query?: {
                /** @description Maximum number of animals returned */
                limit?: number;
                /** @description Restrict the result to animals of this status */
                status?: components<Int64>["schemas"]["PetStatus"];
                /** @description Where the page begins: taken from the `Link` with rel `next` of the page before */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A paginated list of animals */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["Pets"];
                };
            };
        };
    };
    createPet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components<Int64>["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The created animal, including the assigned `id` */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["Pet"];
                };
            };
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The identifier of the animal */
                petId: Int64;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["Pet"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client and the key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["Account"];
                };
            };
        };
    };
    getAccountUsage: {
        parameters: {
            query?: {
                /** @description How many UTC days to show, today among them */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client and its usage */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["ClientUsage"];
                };
            };
        };
    };
    listOwnKeys: {
        parameters: {
            query?: {
                /** @description Most entries of a page */
                limit?: number;
                /** @description Where the page begins: taken from the `Link` with rel `next` of the page before */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["ApiKeys"];
                };
            };
        };
    };
    issueOwnKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components<Int64>["schemas"]["NewOwnKey"];
            };
        };
        responses: {
            /** @description The key, with its secret this once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["IssuedKey"];
                };
            };
        };
    };
    getOwnKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["ApiKeyState"];
                };
            };
        };
    };
    updateOwnKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components<Int64>["schemas"]["KeyChanges"];
            };
        };
        responses: {
            /** @description The key as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["ApiKey"];
                };
            };
        };
    };
    rotateOwnKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components<Int64>["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** @description The new key, with its secret this once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["IssuedKey"];
                };
            };
        };
    };
    revokeOwnKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["ApiKey"];
                };
            };
        };
    };
    listOwnWebhooks: {
        parameters: {
            query?: {
                /** @description Most entries of a page */
                limit?: number;
                /** @description Where the page begins: taken from the `Link` with rel `next` of the page before */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of endpoints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookEndpoints"];
                };
            };
        };
    };
    createOwnWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components<Int64>["schemas"]["NewOwnWebhookEndpoint"];
            };
        };
        responses: {
            /** @description The endpoint, with its secret this once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    getOwnWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookEndpointState"];
                };
            };
        };
    };
    deleteOwnWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint as it was */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    updateOwnWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components<Int64>["schemas"]["WebhookEndpointChanges"];
            };
        };
        responses: {
            /** @description The endpoint as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    rotateOwnWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components<Int64>["schemas"]["WebhookSecretRotation"];
            };
        };
        responses: {
            /** @description The endpoint, with its new secret this once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    listOwnWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Most entries of a page */
                limit?: number;
                /** @description Where the page begins: taken from the `Link` with rel `next` of the page before */
                cursor?: string;
                /** @description Only deliveries in this state */
                state?: components<Int64>["schemas"]["DeliveryState"];
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookDeliveries"];
                };
            };
        };
    };
    getOwnWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the delivery */
                deliveryId: Int64;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookDeliveryWithPayload"];
                };
            };
        };
    };
    redeliverOwnWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the delivery */
                deliveryId: Int64;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new delivery */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    testOwnWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery of the test */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    listOwnWebhookEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events, by name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components<Int64>["schemas"]["WebhookEvents"];
                };
            };
        };
    };
}
