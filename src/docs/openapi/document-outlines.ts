import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Application } from 'express';
import type { Settings } from '../../core/config/settings.js';
import { routesOf, versionOf } from '../../http/operations/registered-routes.js';
import { accountDescription } from './account-description.js';
import { adminDescription } from './admin-description.js';
import { apiDescription } from './api-description.js';
import type { DocumentFacts } from './document-facts.js';

/** Parts of an OpenAPI document whose types @nestjs/swagger does not export by name. */
export type PathItem = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItem['get']>;
type ResponseOrReference = NonNullable<OperationObject['responses']['default']>;
export type ResponseObject = Extract<ResponseOrReference, { description: string }>;

/** Appends sentences to an operation's description, if any. */
export function describe(operation: OperationObject, ...sentences: readonly string[]): void {
  operation.description = [operation.description, ...sentences].filter(Boolean).join(' ');
}

/** The outline of one of the service's OpenAPI documents. */
export interface DocumentOutline {
  /** Prefix of its operations' paths. */
  readonly prefix: string;
  /** The suffix of its servers' URLs, after which its paths start: the prefix, or empty. */
  readonly base: string;
  /** Path of its page; the document itself is at `openapi.json` and `openapi.yaml` below it. */
  readonly docsPath: string;
  /** Suffix of its title, and its label in the header of pages; empty for the API. */
  readonly part: '' | 'administration' | 'account';
  /** Creates the introduction, in Markdown. */
  readonly description: (facts: DocumentFacts) => string;
}

/** The operations of the specification and of added modules. */
export const API_DOCUMENT: DocumentOutline = {
  prefix: '/v1',
  base: '/v1',
  docsPath: '/docs',
  part: '',
  description: apiDescription,
};

/** The operations of another version of the API, such as `2`, added by modules. */
export function documentOfVersion(version: string): DocumentOutline {
  return {
    ...API_DOCUMENT,
    prefix: `/v${version}`,
    base: `/v${version}`,
    docsPath: `${API_DOCUMENT.docsPath}/v${version}`,
  };
}

/** Administration. */
export const ADMIN_DOCUMENT: DocumentOutline = {
  prefix: '/admin',
  base: '/admin',
  docsPath: '/docs/admin',
  part: 'administration',
  description: adminDescription,
};

/** Self-service of key holders. `GET /account` is at the prefix itself, so its paths include the prefix. */
export const ACCOUNT_DOCUMENT: DocumentOutline = {
  prefix: '/account',
  base: '',
  docsPath: '/docs/account',
  part: 'account',
  description: accountDescription,
};

/** The title of a document. */
export function titleOf({ part }: DocumentOutline, { apiTitle }: Settings): string {
  return part === '' ? apiTitle : `${apiTitle} ${part}`;
}

/** The version of the interface in a document. */
export function versionOfDocument({ part, prefix }: DocumentOutline, { apiVersion }: Settings): string {
  if (part !== '') return '1.0.0';
  const version = prefix.slice(2);
  if (prefix === API_DOCUMENT.prefix) return apiVersion;
  return /^\d+$/.test(version) ? `${version}.0.0` : version;
}

/** The documents of an application: the API, self-service, the administration, and each other version added by a module. */
export function outlinesOf(app: INestApplication): DocumentOutline[] {
  const routes = routesOf(app.getHttpAdapter().getInstance() as Application);
  const versions = new Set(routes.flatMap(({ path }) => versionOf(path) ?? []));
  versions.delete(versionOf(`${API_DOCUMENT.prefix}/`) ?? '');
  return [API_DOCUMENT, ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, ...[...versions].toSorted().map(documentOfVersion)];
}
