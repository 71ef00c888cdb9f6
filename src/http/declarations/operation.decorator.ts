import { Header, HttpCode, type Type, applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiResponse, type ApiResponseOptions, ApiTags } from '@nestjs/swagger';
import { type DeclaredResponse, declareOperation, declaring } from '../../core/declared-operation.js';
import { isJsonType, mediaTypeOf } from '../../core/media-type.js';

/** Common options of all success responses. */
interface Success {
  readonly status: number;
  readonly description: string;
  /** Descriptions of the operation's response headers by name. Headers of every response are added automatically. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that only some of these responses have. */
  readonly optionalHeaders?: Readonly<Record<string, string>>;
}

/** One resource: its DTO, its location, and whether it has the `ETag` that GET returns for it. */
interface Resource<Dto> extends Success {
  readonly type: Type<Dto>;
  /** The path of the created resource, such as `/v1/toys/7`, for `Location`; the path of PUBLIC_BASE_URL is prefixed. */
  readonly location?: (resource: Dto) => string;
  /** Sends the entity tag of the resource, for a later `If-Match`. GET sends it without this option. */
  readonly entityTag?: boolean;
}

/** Several resources; `schemaName` is the name of the array in the OpenAPI document. */
interface Resources extends Success {
  readonly arrayOf: Type;
  readonly schemaName: string;
}

/** Text, a file or a stream of a media type other than JSON, such as `text/csv`. */
interface OtherType extends Success {
  readonly contentType: string;
}

/** A response without a body. */
interface Nothing extends Success {
  readonly status: 204;
}

/** The success response of an operation. */
export type SuccessResponse<Dto = unknown> = Resource<Dto> | Resources | OtherType | Nothing;

/** The header of a page that is followed by another. */
export const NEXT_PAGE = { Link: 'Links to the next and the first page (RFC 8288), if there is a next page' };

/** The response of an operation that returns a list by page, and optionally its total count. */
export function pageOf(
  arrayOf: Type,
  schemaName: string,
  description: string,
  { isCounted = false } = {},
): SuccessResponse {
  const headers: Record<string, string> = isCounted
    ? { 'X-Total-Count': 'Total number of entries in the list' }
    : {};
  return { status: 200, description, arrayOf, schemaName, headers, optionalHeaders: NEXT_PAGE };
}

/**
 * Declares the id, descriptions and success responses of an operation. What the chain adds (errors, headers, security) is documented
 * automatically.
 */
export function Operation<Dto>(operation: {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly responses: SuccessResponse<Dto>;
}): MethodDecorator {
  const { id, summary, description, responses } = operation;
  const { declared, documented } = partsOf(responses);
  return applyDecorators(
    ApiOperation({ operationId: id, summary, description }),
    HttpCode(responses.status),
    (prototype: object, method: string | symbol, { value }: PropertyDescriptor) =>
      declareOperation(value as object, {
        id,
        response: declared,
        controller: prototype.constructor as Type,
        method: String(method),
      }),
    ...('contentType' in responses ? [Header('Content-Type', withCharset(responses.contentType))] : []),
    ApiResponse({ ...successOf(responses), ...documented }),
  );
}

/** Splits the declaration of a response into the parts for the chain and for the document. */
function partsOf<Dto>(responses: SuccessResponse<Dto>): {
  declared: DeclaredResponse;
  documented: ApiResponseOptions;
} {
  if ('arrayOf' in responses) {
    const { arrayOf, schemaName } = responses;
    return { declared: { dto: arrayOf, schemaName }, documented: { type: [arrayOf] } };
  }
  if ('contentType' in responses)
    return { declared: {}, documented: { content: contentOf(responses.contentType) } };
  if (!('type' in responses)) return { declared: {}, documented: {} };
  const { type, location, entityTag = false } = responses;
  const headers = documentedHeaders(
    {
      ...(location ? { Location: 'Address of the created resource' } : {}),
      ...(entityTag ? { ETag: 'Current entity tag of the resource, for `If-Match`' } : {}),
      ...responses.headers,
    },
    true,
  );
  return {
    declared: { dto: type, location, hasEntityTag: entityTag },
    documented: { type, headers: { ...headers, ...documentedHeaders(responses.optionalHeaders, false) } },
  };
}

function successOf({ status, description, headers, optionalHeaders }: Success) {
  const documented = { ...documentedHeaders(headers, true), ...documentedHeaders(optionalHeaders, false) };
  return { status, description, headers: documented };
}

/** Text is sent in UTF-8. */
function withCharset(contentType: string): string {
  return /^text\/[^;]+$/.test(contentType) ? `${contentType}; charset=utf-8` : contentType;
}

/** Documents a body that the handler writes itself: a JSON object, text, or bytes. */
function contentOf(contentType: string) {
  const type = mediaTypeOf(contentType);
  if (isJsonType(type))
    return { [type]: { schema: { type: 'object' as const, additionalProperties: true } } };
  const schema = { type: 'string' as const, ...(type.startsWith('text/') ? {} : { format: 'binary' }) };
  return { [type]: { schema } };
}

function documentedHeaders(meanings: Readonly<Record<string, string>> = {}, required: boolean) {
  const schema = { type: 'string' as const };
  return Object.fromEntries(
    Object.entries(meanings).map(([name, description]) => [name, { description, required, schema }]),
  );
}

/** Groups the operations of a controller in the docs, with a name and description. */
export function Tag(name: string, description: string): ClassDecorator {
  return applyDecorators(ApiTags(name), declaring({ tagDescription: description }));
}
