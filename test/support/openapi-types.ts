export interface paths {
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List animals
         * @description Lists animals in the order of their ids, at most `limit` of them, of one status or of all. Needs the scope `pets:read`.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Add an animal
         * @description Adds an animal and answers it with the `id` assigned to it. Once answered, it is on disk. Needs the scope `pets:write`.
         */
        post: operations["createPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an animal
         * @deprecated
         * @description Fetches one animal. Deprecated: it will be removed on 5 December 2030. Use `GET /v1/pets?status=available` instead. Needs the scope `pets:read`.
         */
        get: operations["getPet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The body of every refusal. */
        Error: {
            /**
             * @description Machine-readable error code
             * @example validation_failed
             */
            code: string;
            /**
             * @description Human-readable description
             * @example The request holds invalid values; see details.
             */
            message: string;
            /**
             * @description The HTTP status code
             * @example 400
             */
            status: number;
            /** @description Every fault found in the values sent; only with the code `validation_failed`. Of more than 20 faults the first 19 are named, and a last entry with the code `more_faults` and an empty field tells how many are left out. */
            details?: {
                /** @description Name of the field or parameter, shortened if it is long; empty for the body as a whole */
                field: string;
                /** @description The rule that was broken */
                code: string;
                /** @description What is allowed */
                message: string;
            }[];
        };
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
            categoryId: number;
            /**
             * @description Availability of the animal
             * @default available
             */
            status: components["schemas"]["PetStatus"];
        };
        /** @description An animal offered in the store. */
        Pet: {
            /**
             * Format: int64
             * @description Unique identifier assigned by the service on creation
             * @example 1
             */
            id: number;
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
            categoryId: number;
            /** @description Availability of the animal */
            status?: components["schemas"]["PetStatus"];
        };
        /** @enum {string} */
        PetStatus: "available" | "pending" | "sold";
        Pets: components["schemas"]["Pet"][];
    };
    responses: {
        /**
         * @description `missing_api_key`: The request has no bearer credential.
         *
         *     `invalid_api_key`: The credential is not a key of this service: mistyped, cut short, of another environment, or not a bearer token.
         *
         *     `expired_api_key`: The key is genuine, but its expiry has passed.
         *
         *     `revoked_api_key`: The key is genuine, but it was revoked.
         */
        Unauthorized: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_acceptable`: The `Accept` header names no range that holds the type which the operation answers, or gives it a weight of 0. Parameters of a range, such as `charset`, exclude nothing. */
        NotAcceptable: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `rate_limit_exceeded`: The client has used the requests that its plan allows in this window, or an address without a valid key has; or an operation that no quota counts was called more often than its own bound allows, which the message then names.
         *
         *     `api_key_banned`: The key went on for 20 seconds or more while an earlier `Retry-After` still ran: each second with a refused request is a strike, and 20 strikes are a ban. Bans last 5 minutes, then 15, 60, and 24 hours.
         *
         *     `daily_quota_exceeded`: The client has used the requests that its plan allows in a UTC day.
         */
        TooManyRequests: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: A defect of the service. */
        InternalServerError: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit-Optional"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining-Optional"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset-Optional"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy-Optional"];
                RateLimit: components["headers"]["RateLimit-Optional"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After-Optional"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: The service is overloaded, the database is busy, full or away, or the service is stopping. */
        ServiceUnavailable: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit-Optional"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining-Optional"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset-Optional"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy-Optional"];
                RateLimit: components["headers"]["RateLimit-Optional"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After-Optional"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Any other refusal */
        OtherRefusal: {
            headers: {
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit-Optional"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining-Optional"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset-Optional"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy-Optional"];
                RateLimit: components["headers"]["RateLimit-Optional"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After-Optional"];
                Link: components["headers"]["Link-Help"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description The limit that applies to the caller
         * @example 60
         */
        "X-RateLimit-Limit": number;
        /**
         * @description Requests remaining in the current window
         * @example 59
         */
        "X-RateLimit-Remaining": number;
        /**
         * @description Unix timestamp at which the limit resets
         * @example 1795132860
         */
        "X-RateLimit-Reset": number;
        /**
         * @description Every window: requests allowed (q) in its length in seconds (w)
         * @example "minute";q=60;w=60, "day";q=1000;w=86400
         */
        "RateLimit-Policy": string;
        /**
         * @description Every window: requests remaining (r) and seconds until it is full again (t)
         * @example "minute";r=59;t=31, "day";r=999;t=40210
         */
        RateLimit: string;
        /**
         * @description The limit that applies to the caller; absent where no quota could be asked
         * @example 60
         */
        "X-RateLimit-Limit-Optional": number;
        /**
         * @description Requests remaining in the current window; absent where no quota could be asked
         * @example 59
         */
        "X-RateLimit-Remaining-Optional": number;
        /**
         * @description Unix timestamp at which the limit resets; absent where no quota could be asked
         * @example 1795132860
         */
        "X-RateLimit-Reset-Optional": number;
        /**
         * @description Every window: requests allowed (q) in its length in seconds (w); absent where no quota could be asked
         * @example "minute";q=60;w=60, "day";q=1000;w=86400
         */
        "RateLimit-Policy-Optional": string;
        /**
         * @description Every window: requests remaining (r) and seconds until it is full again (t); absent where no quota could be asked
         * @example "minute";r=59;t=31, "day";r=999;t=40210
         */
        "RateLimit-Optional": string;
        /**
         * @description Identifier of the request, to be named when reporting a fault
         * @example b0a6f2de-5b0f-4c0e-9d2c-6d8ab0a4a6cf
         */
        "X-Request-Id": string;
        /**
         * @description Seconds to wait before the next request
         * @example 31
         */
        "Retry-After": number;
        /**
         * @description With 503: seconds to wait before the next request
         * @example 1
         */
        "Retry-After-Optional": number;
        /**
         * @description The credential that is asked for (RFC 6750)
         * @example Bearer realm="petstore"
         */
        "WWW-Authenticate": string;
        /**
         * @description Strong entity tag of this representation (RFC 9110 section 8.8.3)
         * @example "kIx2Z0Zx6nJ0mPq1Vb9c4w"
         */
        ETag: string;
        /**
         * @description Who may store the response, and that it must be revalidated (RFC 9111)
         * @example private, no-cache
         */
        "Cache-Control": string;
        /**
         * @description Request headers that the response depends on
         * @example Authorization
         */
        Vary: string;
        /** @description `true` when this is the answer to an earlier request with the same `Idempotency-Key` */
        "Idempotent-Replayed": "true";
        /**
         * @description With `idempotency_in_progress`: seconds to wait before the request is repeated
         * @example 1
         */
        "Retry-After-Conflict": number;
        /**
         * @description When the operation was deprecated (RFC 9745)
         * @example @1795132800
         */
        Deprecation: string;
        /**
         * @description When the operation will be removed (RFC 8594)
         * @example Thu, 05 Dec 2030 00:00:00 GMT
         */
        Sunset: string;
        /**
         * @description Related addresses (RFC 8288): with rel `deprecation` what is told of it, and on a refusal with rel `help` the page of its code
         * @example </docs#/Pets/getPet>; rel="deprecation"; type="text/html"
         */
        Link: string;
        /**
         * @description With rel `help`: the page that tells what this refusal means and what to do (RFC 8288)
         * @example </docs/errors#invalid_api_key>; rel="help"
         */
        "Link-Help": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPets: {
        parameters: {
            query?: {
                /** @description Maximum number of animals returned */
                limit?: number;
                /** @description Restrict the result to animals of this status */
                status?: components["schemas"]["PetStatus"];
                /** @description Where the page begins: taken from the `Link` with rel `next` of the page before */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` that the client has, as it was sent; if it is still the same, 304 without a body. A list of entity tags, or `*` (RFC 9110 section 13.1.2); anything else is ignored */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A paginated list of animals */
            200: {
                headers: {
                    /** @description The next page and the first (RFC 8288), when there is a next page */
                    Link?: string;
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pets"];
                };
            };
            /** @description Nothing has changed since the `ETag` sent in `If-None-Match` */
            304: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `validation_failed`: A field or parameter is missing, or holds a value that is not allowed; a field of the body is unknown; or a parameter of the query is spelled in another case or with brackets. Other unknown parameters are ignored.
             *
             *     `malformed_request`: The bytes received are not an HTTP/1.1 request, `Host` is missing or no host, `Host`, `Authorization` or `Content-Type` is repeated, the target is no path or cannot be decoded, the transfer coding is unknown, or the body is not compressed as `Content-Encoding` says.
             */
            400: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /**
             * @description `client_suspended`: The key is valid, but an operator has suspended the client that it belongs to.
             *
             *     `insufficient_scope`: The key is valid, but does not hold the scope that the operation needs. The request has counted.
             */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            default: components["responses"]["OtherRefusal"];
        };
    };
    createPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to retry: repeated with the same key and body within 24 hours it is answered as before, and done once. 1 to 255 visible ASCII characters, or a String of Structured Fields (RFC 9651): `q1` and `"q1"` are one key. A UUID for every new request is best. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The created animal, including the assigned `id` */
            201: {
                headers: {
                    /** @description Address of the animal */
                    Location: string;
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /**
             * @description `validation_failed`: A field or parameter is missing, or holds a value that is not allowed; a field of the body is unknown; or a parameter of the query is spelled in another case or with brackets. Other unknown parameters are ignored.
             *
             *     `malformed_request`: The bytes received are not an HTTP/1.1 request, `Host` is missing or no host, `Host`, `Authorization` or `Content-Type` is repeated, the target is no path or cannot be decoded, the transfer coding is unknown, or the body is not compressed as `Content-Encoding` says.
             *
             *     `malformed_json`: The body is required and empty or absent, is not JSON (RFC 8259), is not UTF-8, names a member twice, is nested deeper than 64 levels, or holds a number of more than 1,000 characters.
             */
            400: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /**
             * @description `client_suspended`: The key is valid, but an operator has suspended the client that it belongs to.
             *
             *     `insufficient_scope`: The key is valid, but does not hold the scope that the operation needs. The request has counted.
             */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            406: components["responses"]["NotAcceptable"];
            /** @description `idempotency_in_progress`: A request with the same `Idempotency-Key` of the same client has arrived and is not answered yet. */
            409: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After-Conflict"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `payload_too_large`: The body, once decoded, exceeds BODY_LIMIT_BYTES or the limit of the operation; or a file of it exceeds its own. */
            413: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: Content-Type is absent, is malformed, or names a type that the operation does not take or a charset other than UTF-8, or Content-Encoding is not supported. Parameters other than `charset` are ignored. */
            415: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_key_reused`: In the last 24 hours the client has sent the `Idempotency-Key` with another method, path or body. */
            422: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Link: components["headers"]["Link-Help"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            503: components["responses"]["ServiceUnavailable"];
            default: components["responses"]["OtherRefusal"];
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` that the client has, as it was sent; if it is still the same, 304 without a body. A list of entity tags, or `*` (RFC 9110 section 13.1.2); anything else is ignored */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The identifier of the animal */
                petId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal */
            200: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description Nothing has changed since the `ETag` sent in `If-None-Match` */
            304: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `validation_failed`: A field or parameter is missing, or holds a value that is not allowed; a field of the body is unknown; or a parameter of the query is spelled in another case or with brackets. Other unknown parameters are ignored.
             *
             *     `malformed_request`: The bytes received are not an HTTP/1.1 request, `Host` is missing or no host, `Host`, `Authorization` or `Content-Type` is repeated, the target is no path or cannot be decoded, the transfer coding is unknown, or the body is not compressed as `Content-Encoding` says.
             */
            400: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_api_key`: The request has no bearer credential.
             *
             *     `invalid_api_key`: The credential is not a key of this service: mistyped, cut short, of another environment, or not a bearer token.
             *
             *     `expired_api_key`: The key is genuine, but its expiry has passed.
             *
             *     `revoked_api_key`: The key is genuine, but it was revoked.
             */
            401: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `client_suspended`: The key is valid, but an operator has suspended the client that it belongs to.
             *
             *     `insufficient_scope`: The key is valid, but does not hold the scope that the operation needs. The request has counted.
             */
            403: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `pet_not_found`: No animal has this id. */
            404: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `not_acceptable`: The `Accept` header names no range that holds the type which the operation answers, or gives it a weight of 0. Parameters of a range, such as `charset`, exclude nothing. */
            406: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `operation_removed`: The operation was deprecated and its removal date has passed. */
            410: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `rate_limit_exceeded`: The client has used the requests that its plan allows in this window, or an address without a valid key has; or an operation that no quota counts was called more often than its own bound allows, which the message then names.
             *
             *     `api_key_banned`: The key went on for 20 seconds or more while an earlier `Retry-After` still ran: each second with a refused request is a strike, and 20 strikes are a ban. Bans last 5 minutes, then 15, 60, and 24 hours.
             *
             *     `daily_quota_exceeded`: The client has used the requests that its plan allows in a UTC day.
             */
            429: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `internal_error`: A defect of the service. */
            500: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit-Optional"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining-Optional"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset-Optional"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy-Optional"];
                    RateLimit: components["headers"]["RateLimit-Optional"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "Retry-After": components["headers"]["Retry-After-Optional"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `service_unavailable`: The service is overloaded, the database is busy, full or away, or the service is stopping. */
            503: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit-Optional"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining-Optional"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset-Optional"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy-Optional"];
                    RateLimit: components["headers"]["RateLimit-Optional"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "Retry-After": components["headers"]["Retry-After-Optional"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other refusal */
            default: {
                headers: {
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit-Optional"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining-Optional"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset-Optional"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy-Optional"];
                    RateLimit: components["headers"]["RateLimit-Optional"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Link"];
                    "Retry-After": components["headers"]["Retry-After-Optional"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
