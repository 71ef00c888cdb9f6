import type { ArgumentMetadata, Type } from '@nestjs/common';
import type { FaultDetail } from '../../core/errors/api-error.js';
import { isJsonType } from '../../http/media-type.js';
import type { DeclaredOperation } from '../../http/adapter/declared-operation.js';
import { validatedArguments } from '../../http/error.filter.js';
import { InvalidArgument, ValidationPipe } from '../../http/validation/validation.pipe.js';
import type { OperationObject } from './document-outlines.js';

/** A request that an operation refuses for its values, and what is wrong with it. */
export interface InvalidRequest {
  /** Path with query, below the server of the document, such as `/pets?limit=101`. */
  readonly target: string;
  /** The JSON of the body; undefined for an operation that takes none. */
  readonly body?: string;
  /** The faults, in the order in which the service names them. */
  readonly details: readonly FaultDetail[];
}

/** What is sent as each parameter, and in a body as a field that nobody declares; fields that are no texts refuse it. */
const UNKNOWN = 'unknown';
/** Bodies, of which the first that is refused is taken. */
const BODIES: readonly object[] = [{}, { [UNKNOWN]: true }];

const pipe = new ValidationPipe();

/**
 * Makes a request that an operation refuses with validation_failed, by validating it as the service does: each parameter of path
 * and query that may be wrong is wrong, and the body has no field, or one that is not known. Undefined where no value can be
 * wrong, and where the body is not JSON.
 */
export async function invalidRequestOf(
  { prototype, method }: DeclaredOperation,
  path: string,
  operation: OperationObject,
): Promise<InvalidRequest | undefined> {
  const takesBody = operation.requestBody !== undefined;
  if (takesBody && jsonTypeOf(operation) === undefined) return undefined;
  const handler = (prototype as Readonly<Record<string, unknown>>)[method];
  const validated = validatedArguments(prototype.constructor as Type, handler);
  const of = (type: ArgumentMetadata['type']) => validated.filter((argument) => argument.type === type);

  const params = wrongValues(operation, 'path');
  const tried = wrongValues(operation, 'query');
  const refused = new Set((await faultsOf(of('query'), tried)).map(({ field }) => field));
  const query = Object.fromEntries(Object.entries(tried).filter(([name]) => refused.has(name)));
  const body = await firstRefused(of('body'));
  const sources = { param: params, query, body, custom: undefined };

  const details: FaultDetail[] = [];
  for (const argument of validated) details.push(...(await faultsOf([argument], sources[argument.type])));
  if (details.length === 0) return undefined;
  const search = new URLSearchParams(query).toString();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? UNKNOWN);
  return {
    target: `${filled}${search === '' ? '' : `?${search}`}`,
    ...(takesBody ? { body: JSON.stringify(body) } : {}),
    details,
  };
}

/** The media type of JSON that an operation takes; undefined when it takes none. */
export function jsonTypeOf({ requestBody }: OperationObject): string | undefined {
  const content = requestBody && 'content' in requestBody ? requestBody.content : {};
  return Object.keys(content).find((type) => isJsonType(type));
}

/** For each parameter of a place a value that it probably refuses: a number beyond its bounds, or no value at all. */
function wrongValues({ parameters = [] }: OperationObject, place: 'path' | 'query'): Record<string, string> {
  const values: Record<string, string> = {};
  for (const parameter of parameters) {
    if ('$ref' in parameter || parameter.in !== place) continue;
    const { schema } = parameter;
    const maximum = schema && 'maximum' in schema ? schema.maximum : undefined;
    values[parameter.name] = maximum === undefined ? UNKNOWN : String(maximum + 1);
  }
  return values;
}

async function firstRefused(bodies: readonly ArgumentMetadata[]): Promise<object> {
  for (const body of BODIES) if ((await faultsOf(bodies, body)).length > 0) return body;
  return {};
}

async function faultsOf(
  validated: readonly ArgumentMetadata[],
  source: Readonly<Record<string, unknown>> | object | undefined,
): Promise<FaultDetail[]> {
  const faults: FaultDetail[] = [];
  for (const argument of validated) {
    const { data } = argument;
    const value =
      data === undefined ? { ...source } : (source as Record<string, unknown> | undefined)?.[data];
    try {
      await pipe.transform(value, argument);
    } catch (error) {
      if (!(error instanceof InvalidArgument)) throw error;
      faults.push(...error.faults);
    }
  }
  return faults;
}
