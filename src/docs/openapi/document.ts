import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { OtherCredentials } from '../../auth/other-credentials.js';
import { PUBLIC_EXTENSION, SCOPES_EXTENSION } from '../../auth/auth.decorators.js';
import { IF_MATCH_EXTENSION } from '../../http/caching/if-match.decorator.js';
import type { IfMatchNeed } from '../../http/caching/precondition.guard.js';
import { Settings } from '../../core/config/settings.js';
import { DEPRECATION_EXTENSION } from '../../http/deprecation/deprecated.decorator.js';
import { ERRORS_EXTENSION, ErrorSchema } from '../../core/errors/api-errors.decorator.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { IDEMPOTENT_EXTENSION } from '../../http/idempotency/idempotent.decorator.js';
import { UNCOUNTED_EXTENSION, type UncountedBound } from '../../throttling/uncounted.decorator.js';
import { describeDeprecation } from './described-deprecation.js';
import type { DocumentOutline, OperationObject, PathItem, ResponseObject } from './document-outlines.js';
import { documentFactsOf } from './document-facts.js';
import { modulesOf } from './documented-modules.js';
import { type ExtendedOperation, type Occurrences, errorResponsesOf } from './error-responses.js';
import {
  DOCUMENTED_HEADERS,
  describeAcceptPatch,
  describeIdempotency,
  describePrecondition,
  describeRevalidation,
  headersOf,
} from './headers.js';
import { type InvalidRequest, invalidRequestOf } from './invalid-request.js';
import {
  ARRAY_SCHEMA_EXTENSION,
  HANDLER_EXTENSION,
  HANDLERS,
  TAG_EXTENSION,
} from '../../http/operation.decorator.js';
import { serversOf } from './servers.js';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
/** Whom to ask about the service; who they are only its users know. */
const OPERATORS = 'The operators of this service';
/** Extensions by which decorators pass data to this file; they are removed from the published document. */
const INTERNAL_EXTENSIONS = [
  ERRORS_EXTENSION,
  ARRAY_SCHEMA_EXTENSION,
  PUBLIC_EXTENSION,
  IDEMPOTENT_EXTENSION,
  DEPRECATION_EXTENSION,
  IF_MATCH_EXTENSION,
  HANDLER_EXTENSION,
];

/** The OpenAPI document of the operations below one path, from the decorators of their controllers. */
export async function buildDocument(app: INestApplication, outline: DocumentOutline): Promise<OpenAPIObject> {
  const settings = app.get(Settings);
  const { description } = outline;
  const { verifier } = app.get(OtherCredentials, { strict: false });
  const builder = new DocumentBuilder()
    .setTitle(outline.title)
    .setDescription(typeof description === 'string' ? description : description(documentFactsOf(app)))
    .setContact(OPERATORS, '', '')
    .setVersion(outline.version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addSecurity('bearer', { type: 'http', scheme: 'bearer', description: 'The API key' })
    .addSecurityRequirements('bearer');
  for (const { url, description: text } of serversOf(settings, outline)) builder.addServer(url, text);
  if (verifier) {
    const { name, ...scheme } = verifier.scheme;
    builder.addSecurity(name, { type: 'http', scheme: 'bearer', ...scheme }).addSecurityRequirements(name);
  }
  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels: [ErrorSchema],
    include: modulesOf(app, outline.prefix),
  });
  for (const operation of operationsOf(document.paths)) describeDeprecation(operation, app);
  return complete(document, outline, verifier?.errors ?? [], settings);
}

/** Adds the headers and errors of the chain to every operation, and makes paths relative to the server's address. */
async function complete(
  document: OpenAPIObject,
  { prefix, base }: DocumentOutline,
  ofCredential: readonly ErrorRow[],
  { bodyLimitBytes }: Settings,
): Promise<OpenAPIObject> {
  const schemas = document.components?.schemas ?? {};
  const paths: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
    for (const method of METHODS) {
      const operation = item[method] as ExtendedOperation | undefined;
      if (!operation) continue;
      const invalid = await invalidOf(operation, path.slice(base.length));
      const occurrences = { method: method.toUpperCase(), bodyLimitBytes, invalid };
      Object.assign(schemas, completeOperation(operation, method, ofCredential, occurrences));
    }
    paths[path.slice(base.length)] = item;
  }
  closeBodySchemas(paths, schemas);
  return {
    openapi: document.openapi,
    info: withoutAddresses(document.info),
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

/** The builder writes addresses of a contact that are empty. */
function withoutAddresses(info: OpenAPIObject['info']): OpenAPIObject['info'] {
  return { ...info, contact: { name: OPERATORS } };
}

/** The requests that operations refuse, by handler and path: they depend on decorators alone. */
const invalidRequests = new Map<string, InvalidRequest | undefined>();

/** A request that an operation refuses for its values; undefined where none is known. */
async function invalidOf(operation: ExtendedOperation, path: string): Promise<InvalidRequest | undefined> {
  const at = operation[HANDLER_EXTENSION] as number | undefined;
  const place = at === undefined ? undefined : HANDLERS[at];
  if (!place) return undefined;
  const name = `${at} ${path}`;
  if (!invalidRequests.has(name)) invalidRequests.set(name, await invalidRequestOf(place, path, operation));
  return invalidRequests.get(name);
}

/** Completes one operation in place; returns the schema of its array, if it has a named one. */
function completeOperation(
  operation: ExtendedOperation,
  method: string,
  ofCredential: readonly ErrorRow[],
  occurrences: Occurrences,
): Schemas {
  const deprecated = operation[DEPRECATION_EXTENSION] !== undefined;
  const scopes = (operation[SCOPES_EXTENSION] ?? []) as string[];
  const arrayName = operation[ARRAY_SCHEMA_EXTENSION] as string | undefined;
  const schemas = arrayName === undefined ? {} : nameArraySchema(operation, arrayName);
  if (operation[PUBLIC_EXTENSION] !== undefined) operation.security = [];
  // `@RequireScopes()` without an argument says that every valid key may call it.
  if (scopes.length === 0) Reflect.deleteProperty(operation, SCOPES_EXTENSION);
  else operation.description += ` Needs the scope \`${scopes.join('`, `')}\`.`;
  const bound = operation[UNCOUNTED_EXTENSION] as UncountedBound | undefined;
  if (bound) operation.description += ` ${boundText(bound)}`;
  operation.responses = { ...operation.responses, ...errorResponsesOf(operation, ofCredential, occurrences) };
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

function boundText({ perMinute, per, refusesBanned }: UncountedBound): string {
  const whose = per === 'key' ? 'each key' : 'all keys of a client';
  const ofBanned = refusesBanned ? ' Refused while the key that is sent is banned.' : '';
  return `Counts for no quota; at most ${perMinute} such requests a minute for ${whose}.${ofBanned}`;
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
