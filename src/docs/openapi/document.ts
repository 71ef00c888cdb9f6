import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { OtherCredentials } from '../../auth/other-credentials.js';
import { Settings } from '../../core/config/settings.js';
import { ErrorSchema } from '../../core/errors/api-errors.decorator.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { writeExactJson } from '../../core/exact-json.js';
import type { DeclaredOperation, OperationLimit } from '../../core/declared-operation.js';
import { describeDeprecation } from './described-deprecation.js';
import { documentFactsOf } from './document-facts.js';
import {
  describe,
  type DocumentOutline,
  type OperationObject,
  type PathItem,
  type ResponseObject,
  titleOf,
  versionOfDocument,
} from './document-outlines.js';
import { DocumentedHandlers } from './documented-handlers.js';
import { type Occurrences, errorResponsesOf, shareResponses } from './error-responses.js';
import {
  describeIdempotency,
  describePrecondition,
  describeRevalidation,
  documentedHeaders,
  headersOf,
} from './headers.js';
import { serversOf } from './servers.js';
import { createsEndpoints, hasWebhooks, webhookCallbacks, webhookModels } from './webhook-callbacks.js';

type Components = NonNullable<OpenAPIObject['components']>;
type Schemas = NonNullable<Components['schemas']>;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
const REFERENCE = /"#\/components\/(\w+)\/([^"]+)"/g;

/** Creates the OpenAPI document of the operations below a prefix from the decorators of their controllers. */
export function buildDocument(app: INestApplication, outline: DocumentOutline): OpenAPIObject {
  const settings = app.get(Settings);
  const { verifier } = app.get(OtherCredentials, { strict: false });
  const builder = new DocumentBuilder()
    .setTitle(titleOf(outline, settings))
    .setDescription(outline.description(documentFactsOf(app)))
    .setVersion(versionOfDocument(outline, settings))
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addSecurity('bearer', { type: 'http', scheme: 'bearer', description: 'The API key' })
    .addSecurityRequirements('bearer');
  for (const { url, description: text } of serversOf(settings, outline)) builder.addServer(url, text);
  if (verifier) {
    const { name, ...scheme } = verifier.scheme;
    builder.addSecurity(name, { type: 'http', scheme: 'bearer', ...scheme }).addSecurityRequirements(name);
  }
  const handlers = new DocumentedHandlers(app, outline.prefix);
  const document = SwaggerModule.createDocument(app, builder.build(), {
    extraModels: [ErrorSchema, ...(hasWebhooks(outline.prefix) ? webhookModels() : [])],
    include: handlers.modules,
  });
  const completed = complete(document, outline, handlers, verifier?.errors ?? [], app);
  return withKeysOf(settings.apiKeyPrefix, completed) as OpenAPIObject;
}

/** A copy in which the keys in examples have this service's prefix. */
function withKeysOf(prefix: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\bpst_(?=live_|test_)/g, `${prefix}_`);
  if (Array.isArray(value)) return value.map((one) => withKeysOf(prefix, one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withKeysOf(prefix, one)]));
}

/** Adds the headers and errors of the chain to every operation, and makes paths relative to the server's URL. */
function complete(
  document: OpenAPIObject,
  { prefix, base }: DocumentOutline,
  handlers: DocumentedHandlers,
  ofCredential: readonly ErrorRow[],
  app: INestApplication,
): OpenAPIObject {
  const { apiContact, apiRealm, bodyLimitBytes } = app.get(Settings);
  const schemas = document.components?.schemas ?? {};
  const paths: Record<string, PathItem> = {};
  const tags = new Map<string, string>();
  for (const [path, item] of Object.entries(document.paths)) {
    if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const declared = handlers.declaredOf(operation);
      const { deprecation, tagDescription } = declared;
      const [tag] = operation.tags ?? [];
      if (tag !== undefined && tagDescription !== undefined) tags.set(tag, tagDescription);
      Object.assign(operation, extensionsOf(declared));
      if (method === 'post' && createsEndpoints(path)) operation.callbacks = webhookCallbacks();
      const sunset = deprecation && describeDeprecation(operation, deprecation, app);
      const occurrences = { declared, sunset, bodyLimitBytes };
      Object.assign(schemas, completeOperation(operation, method, ofCredential, occurrences));
    }
    paths[path.slice(base.length)] = item;
  }
  const operations = Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
  closeBodySchemas(operations, schemas);
  typeNullableReferences(schemas);
  const components = {
    schemas: sortedByName(schemas),
    responses: shareResponses(operations),
    headers: documentedHeaders(apiRealm),
  };
  return {
    openapi: document.openapi,
    info: { ...document.info, contact: apiContact },
    servers: document.servers ?? [],
    security: document.security ?? [],
    tags: Object.entries(sortedByName(Object.fromEntries(tags))).map(([name, description]) => ({
      name,
      description,
    })),
    paths,
    components: { ...document.components, ...referenced(paths, components) },
  };
}

/** The components that the paths reference, directly or indirectly; others belong to another document. */
function referenced(paths: object, components: Components): Components {
  const all = components as Record<string, Record<string, unknown>>;
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [reference, kind = '', name = ''] of writeExactJson(value).matchAll(REFERENCE)) {
      if (found.has(reference)) continue;
      found.add(reference);
      collect(all[kind]?.[name] ?? {});
    }
  };
  collect(paths);
  return Object.fromEntries(
    Object.entries(all).map(([kind, parts]) => [
      kind,
      Object.fromEntries(
        Object.entries(parts).filter(([name]) => found.has(`"#/components/${kind}/${name}"`)),
      ),
    ]),
  );
}

/** Adds a type to nullable members that reference a named schema: without one, `nullable` has no effect (OpenAPI 3.0.3, Schema Object). */
function typeNullableReferences(schemas: Schemas): void {
  for (const schema of Object.values(schemas)) {
    if ('$ref' in schema) continue;
    for (const member of Object.values(schema.properties ?? {})) {
      if ('$ref' in member || !member.nullable || member.type) continue;
      const [part] = member.allOf ?? [];
      const named = part && '$ref' in part ? schemas[part.$ref.split('/').at(-1) ?? ''] : undefined;
      if (named && 'type' in named && named.type) member.type = named.type;
    }
  }
}

/** Documents that every body's unknown fields are rejected by the validation pipe. */
function closeBodySchemas(operations: readonly OperationObject[], schemas: Schemas): void {
  for (const { requestBody: body } of operations) {
    for (const content of Object.values(body && 'content' in body ? body.content : {})) {
      const name =
        content.schema && '$ref' in content.schema ? content.schema.$ref.split('/').at(-1) : undefined;
      const schema = schemas[name ?? ''];
      if (schema && !('$ref' in schema) && schema.properties) schema.additionalProperties = false;
    }
  }
}

/** Completes an operation in place; returns the schema of its array, if it has a name. */
function completeOperation(
  operation: OperationObject,
  method: string,
  ofCredential: readonly ErrorRow[],
  occurrences: Occurrences,
): Schemas {
  const { response, isPublic, scopes = [], operationLimit, isIdempotent, ifMatch } = occurrences.declared;
  const arrayName = response?.schemaName;
  const schemas = arrayName === undefined ? {} : nameArraySchema(operation, arrayName);
  // Every operation accepts all credentials of the document, whatever @ApiBearerAuth() or @ApiBasicAuth() declares.
  operation.security = isPublic ? [] : undefined;
  if (scopes.length > 0) describe(operation, `Needs the scope \`${scopes.join('`, `')}\`.`);
  if (operationLimit) describe(operation, limitText(operationLimit));
  operation.responses = { ...operation.responses, ...errorResponsesOf(operation, ofCredential, occurrences) };
  if (method === 'get') describeRevalidation(operation);
  if (isIdempotent) describeIdempotency(operation);
  if (ifMatch) describePrecondition(operation, ifMatch);
  for (const [status, one] of Object.entries(operation.responses)) {
    const documented = one as ResponseObject;
    documented.headers = { ...documented.headers, ...headersOf(status, method, occurrences.declared) };
  }
  return schemas;
}

/** Extensions of an operation in the published document. */
function extensionsOf({ scopes = [], operationLimit }: DeclaredOperation): object {
  const { what: _, ...shown } = operationLimit ?? {};
  return {
    ...(scopes.length > 0 ? { 'x-required-scopes': scopes } : {}),
    ...(operationLimit ? { 'x-uncounted': shown } : {}),
  };
}

function limitText({ perMinute, per, perClient, refusesBanned }: OperationLimit): string {
  const together = perClient === undefined ? '' : ` and ${perClient} for all keys of a client`;
  const whose = per === 'key' ? `each key${together}` : 'all keys of a client';
  const ofBanned = refusesBanned ? ' Refused while the key that you send is banned.' : '';
  return `Does not count toward the quota; at most ${perMinute} such requests per minute for ${whose}.${ofBanned}`;
}

/** Gives the array in an operation's response a named schema, which @nestjs/swagger does not support. */
function nameArraySchema(operation: OperationObject, name: string): Schemas {
  for (const response of Object.values(operation.responses) as ResponseObject[]) {
    const content = response.content?.['application/json'];
    if (!content?.schema || !('type' in content.schema) || content.schema.type !== 'array') continue;
    const schema = content.schema;
    content.schema = { $ref: `#/components/schemas/${name}` };
    return { [name]: schema };
  }
  throw new Error(`${operation.operationId} does not return an array, so it cannot be named ${name}.`);
}

function sortedByName<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
