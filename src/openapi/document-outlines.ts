import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { ServiceAdapter } from '../http/adapter/service-adapter.js';
import { versionOf } from '../http/path-version.js';

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
  /** Version of the interface that it describes. */
  readonly version: string;
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
  version: '1.0.0',
  description:
    'Keeps a catalogue of animals offered in a store. Every call carries an API key as a bearer token; ' +
    'every plan has a limit of requests per minute and per day; every refusal has the Error body. ' +
    UNKNOWN_PARAMETERS,
  serverOf: (baseUrl) => baseUrl,
};

/** The operations of another version of the API, such as `2`, which modules have added. */
export function documentOfVersion(version: string): DocumentOutline {
  return {
    ...API_DOCUMENT,
    prefix: `/v${version}`,
    docsPath: `${API_DOCUMENT.docsPath}/v${version}`,
    version: /^\d+$/.test(version) ? `${version}.0.0` : version,
    serverOf: (baseUrl) => baseUrl.replace(/\/v1$/, `/v${version}`),
  };
}

/** Administration. */
export const ADMIN_DOCUMENT: DocumentOutline = {
  prefix: '/admin',
  docsPath: '/docs/admin',
  title: 'Pet Store Service administration',
  version: '1.0.0',
  description:
    'Clients, their keys, what they use, and who changed what. Every call carries an API key with the scope `admin`, ' +
    'counts for the client of that key, and has the same headers and the same Error body as the API. ' +
    'Orders take no `Idempotency-Key`: what is kept for a repetition would hold the secret of a new key. ' +
    UNKNOWN_PARAMETERS,
  serverOf: (baseUrl) => baseUrl.replace(/\/v1$/, '/admin'),
};

/** The documents of an application: the API, the administration, and each other version that a module has added. */
export function outlinesOf(app: INestApplication): DocumentOutline[] {
  const adapter: unknown = app.getHttpAdapter();
  const routes = adapter instanceof ServiceAdapter ? adapter.routes : [];
  const versions = new Set(routes.flatMap(({ path }) => versionOf(path) ?? []));
  versions.delete(versionOf(`${API_DOCUMENT.prefix}/`) ?? '');
  return [API_DOCUMENT, ADMIN_DOCUMENT, ...[...versions].toSorted().map(documentOfVersion)];
}
