import type { OpenAPIObject } from '@nestjs/swagger';

/** The parts of an OpenAPI document that @nestjs/swagger types, but does not export by name. */
export type PathItem = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItem['get']>;
type ResponseOrReference = NonNullable<OperationObject['responses']['default']>;
export type ResponseObject = Extract<ResponseOrReference, { description: string }>;
export type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;

/** What one of the service's OpenAPI documents is about. */
export interface DocumentOutline {
  /** Path that its operations are below. */
  readonly prefix: string;
  /** Path of its page; the document itself is at `openapi.json` and `openapi.yaml` below it. */
  readonly docsPath: string;
  readonly title: string;
  readonly description: string;
  /** The address of its operations, from a base address that ends in /v1. */
  readonly serverOf: (baseUrl: string) => string;
}

/** What both documents say about parameters and fields that they do not name. */
const UNKNOWN_PARAMETERS =
  'A query parameter that an operation does not name is ignored; one that it names in another spelling (`Status`, ' +
  '`status[]`) is refused, as is every unknown field of a body.';

/** The specification's operations, and those of added modules. */
export const API_DOCUMENT: DocumentOutline = {
  prefix: '/v1',
  docsPath: '/docs',
  title: 'Pet Store Service',
  description:
    'Keeps a catalogue of animals offered in a store. Every call carries an API key as a bearer token; ' +
    'every plan has a limit of requests per minute and per day; every refusal has the Error body. ' +
    UNKNOWN_PARAMETERS,
  serverOf: (baseUrl) => baseUrl,
};

/** Administration. */
export const ADMIN_DOCUMENT: DocumentOutline = {
  prefix: '/admin',
  docsPath: '/docs/admin',
  title: 'Pet Store Service administration',
  description:
    'Clients, their keys, what they use, and who changed what. Every call carries an API key with the scope `admin`, ' +
    'counts for the client of that key, and has the same headers and the same Error body as the API. ' +
    'Orders take no `Idempotency-Key`: what is kept for a repetition would hold the secret of a new key. ' +
    UNKNOWN_PARAMETERS,
  serverOf: (baseUrl) => baseUrl.replace(/\/v1$/, '/admin'),
};
