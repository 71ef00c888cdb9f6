import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { OtherCredentials } from '../auth/other-credentials.js';
import { PUBLIC_EXTENSION, SCOPES_EXTENSION } from '../auth/auth.decorators.js';
import { IF_MATCH_EXTENSION, type IfMatchNeed } from '../caching/if-match.decorator.js';
import { Settings } from '../config/settings.js';
import { DEPRECATION_EXTENSION } from '../deprecation/deprecated.decorator.js';
import { ERRORS_EXTENSION, ErrorSchema } from '../errors/api-errors.decorator.js';
import type { ErrorRow } from '../errors/define-errors.js';
import { IDEMPOTENT_EXTENSION } from '../idempotency/idempotent.decorator.js';
import { describeDeprecation } from './described-deprecation.js';
import type { DocumentOutline, OperationObject, PathItem, ResponseObject } from './document-outlines.js';
import { modulesOf } from './documented-modules.js';
import { type ExtendedOperation, errorResponsesOf } from './error-responses.js';
import {
  DOCUMENTED_HEADERS,
  describeAcceptPatch,
  describeIdempotency,
  describePrecondition,
  describeRevalidation,
  headersOf,
} from './headers.js';
import { ARRAY_SCHEMA_EXTENSION, TAG_EXTENSION } from './operation.decorator.js';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
/** Extensions by which decorators pass data to this file; they are removed from the published document. */
const INTERNAL_EXTENSIONS = [
  ERRORS_EXTENSION,
  ARRAY_SCHEMA_EXTENSION,
  PUBLIC_EXTENSION,
  IDEMPOTENT_EXTENSION,
  DEPRECATION_EXTENSION,
  IF_MATCH_EXTENSION,
];

/** The OpenAPI document of the operations below one path, from the decorators of their controllers. */
export function buildDocument(app: INestApplication, outline: DocumentOutline): OpenAPIObject {
  const { publicBaseUrl, stagingBaseUrl } = app.get(Settings);
  const { verifier } = app.get(OtherCredentials, { strict: false });
  const builder = new DocumentBuilder()
    .setTitle(outline.title)
    .setDescription(outline.description)
    .setVersion(outline.version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(outline.serverOf(publicBaseUrl), 'Production')
    .addServer(outline.serverOf(stagingBaseUrl), 'Staging')
    .addSecurity('bearer', { type: 'http', scheme: 'bearer', description: 'The API key' })
    .addSecurityRequirements('bearer');
  if (verifier) {
    const { name, ...scheme } = verifier.scheme;
    builder.addSecurity(name, { type: 'http', scheme: 'bearer', ...scheme }).addSecurityRequirements(name);
  }
  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels: [ErrorSchema],
    include: modulesOf(app, outline.prefix),
  });
  for (const operation of operationsOf(document.paths)) describeDeprecation(operation, app);
  return complete(document, outline.prefix, verifier?.errors ?? []);
}

/** Adds the headers and errors of the chain to every operation, and makes paths relative to the server's address. */
function complete(document: OpenAPIObject, prefix: string, ofCredential: readonly ErrorRow[]): OpenAPIObject {
  const schemas = document.components?.schemas ?? {};
  const paths: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    if (!path.startsWith(`${prefix}/`)) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (operation)
        Object.assign(schemas, completeOperation(operation as ExtendedOperation, method, ofCredential));
    }
    paths[path.slice(prefix.length)] = item;
  }
  closeBodySchemas(paths, schemas);
  return {
    openapi: document.openapi,
    info: withoutContact(document.info),
    servers: document.servers ?? [],
    security: document.security ?? [],
    tags: takeTags(paths),
    paths,
    components: {
      ...document.components,
      schemas: sortedByName(referenced(paths, schemas)),
      headers: referenced(paths, DOCUMENTED_HEADERS),
    },
  };
}

/** The components that the paths refer to, directly or through others; those of the other document are left out. */
function referenced<T>(paths: object, components: Record<string, T>): Record<string, T> {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/\w+\/([^"]+)"/g)) {
      if (!(name in components) || names.has(name)) continue;
      names.add(name);
      collect(components[name]);
    }
  };
  collect(paths);
  return Object.fromEntries(Object.entries(components).filter(([name]) => names.has(name)));
}

/** The validation pipe refuses unknown fields in every body, so every body's schema says so. */
function closeBodySchemas(paths: Record<string, PathItem>, schemas: Schemas): void {
  for (const operation of operationsOf(paths)) {
    const body = operation.requestBody;
    for (const content of Object.values(body && 'content' in body ? body.content : {})) {
      const name =
        content.schema && '$ref' in content.schema ? content.schema.$ref.split('/').at(-1) : undefined;
      const schema = schemas[name ?? ''];
      if (schema && !('$ref' in schema) && schema.properties) schema.additionalProperties = false;
    }
  }
}

/** Removes the texts of `@Tag()` from the operations and returns them, sorted by name. */
function takeTags(paths: Record<string, PathItem>): { name: string; description: string }[] {
  const descriptions = new Map<string, string>();
  for (const operation of operationsOf(paths) as ExtendedOperation[]) {
    const description = operation[TAG_EXTENSION] as string | undefined;
    const [name] = operation.tags ?? [];
    if (name !== undefined && description !== undefined) descriptions.set(name, description);
    Reflect.deleteProperty(operation, TAG_EXTENSION);
  }
  return [...descriptions]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, description]) => ({ name, description }));
}

function operationsOf(paths: Record<string, PathItem>): OperationObject[] {
  return Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
}

/** The builder always writes a contact, empty if there is none. */
function withoutContact({ contact: _contact, ...info }: OpenAPIObject['info']): OpenAPIObject['info'] {
  return info;
}

/** Completes one operation in place; returns the schema of its array, if it has a named one. */
function completeOperation(
  operation: ExtendedOperation,
  method: string,
  ofCredential: readonly ErrorRow[],
): Schemas {
  const deprecated = operation[DEPRECATION_EXTENSION] !== undefined;
  const scopes = (operation[SCOPES_EXTENSION] ?? []) as string[];
  const arrayName = operation[ARRAY_SCHEMA_EXTENSION] as string | undefined;
  const schemas = arrayName === undefined ? {} : nameArraySchema(operation, arrayName);
  if (operation[PUBLIC_EXTENSION] !== undefined) operation.security = [];
  if (scopes.length > 0) operation.description += ` Needs the scope \`${scopes.join('`, `')}\`.`;
  operation.responses = { ...operation.responses, ...errorResponsesOf(operation, ofCredential) };
  if (method === 'get') describeRevalidation(operation);
  if (operation[IDEMPOTENT_EXTENSION] !== undefined) describeIdempotency(operation);
  const ifMatch = operation[IF_MATCH_EXTENSION] as IfMatchNeed | undefined;
  if (ifMatch) describePrecondition(operation, ifMatch);
  if (method === 'patch') describeAcceptPatch(operation);
  for (const [status, response] of Object.entries(operation.responses)) {
    const documented = response as ResponseObject;
    documented.headers = { ...documented.headers, ...headersOf(status, method, deprecated) };
  }
  for (const extension of INTERNAL_EXTENSIONS) Reflect.deleteProperty(operation, extension);
  return schemas;
}

/** Makes a named schema of the array that an operation answers, which @nestjs/swagger cannot. */
function nameArraySchema(operation: ExtendedOperation, name: string): Schemas {
  for (const response of Object.values(operation.responses) as ResponseObject[]) {
    const content = response.content?.['application/json'];
    if (!content?.schema || !('type' in content.schema) || content.schema.type !== 'array') continue;
    const schema = content.schema;
    content.schema = { $ref: `#/components/schemas/${name}` };
    return { [name]: schema };
  }
  throw new Error(`${operation.operationId} answers no array to be named ${name}.`);
}

function sortedByName<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
