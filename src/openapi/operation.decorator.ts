import { Header, HttpCode, type Type, applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { declareOperation } from '../http/adapter/declared-operation.js';
import { mediaTypeOf } from '../http/media-type.js';

/** OpenAPI extension that passes the name of an answered array to document.ts; it is not published. */
export const ARRAY_SCHEMA_EXTENSION = 'x-array-schema';

/** What an operation answers when it succeeds. */
export type Answer = {
  readonly status: number;
  readonly description: string;
  /** Response headers of this operation, name to description; those of every response are added automatically. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that only some of these responses have. */
  readonly optionalHeaders?: Readonly<Record<string, string>>;
} & (
  | { readonly type: Type }
  | { readonly arrayOf: Type; readonly schemaName: string }
  /** Media type of an answer that is not JSON, such as `text/csv`: a text, a file or a stream. */
  | { readonly contentType: string }
);

/** The header of a page that has a next page. */
export const NEXT_PAGE = { Link: 'The next page and the first (RFC 8288), when there is a next page' };

/**
 * States an operation once: its name in the OpenAPI document, its texts and its success. Everything that the
 * chain adds to it (errors, headers, security) is documented automatically.
 */
export function Operation(operation: {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly answers: Answer;
}): MethodDecorator {
  const { id, summary, description, answers } = operation;
  const headers = {
    ...documentedHeaders(answers.headers, true),
    ...documentedHeaders(answers.optionalHeaders, false),
  };
  const success = { status: answers.status, description: answers.description, headers };
  const documented = [
    ApiOperation({ operationId: id, summary, description }),
    HttpCode(answers.status),
    declareOperation(shownAsOf(answers)),
  ];
  if ('contentType' in answers) {
    return applyDecorators(
      ...documented,
      Header('Content-Type', withCharset(answers.contentType)),
      ApiResponse({ ...success, content: contentOf(answers.contentType) }),
    );
  }
  if ('type' in answers) {
    return applyDecorators(...documented, ApiResponse({ ...success, type: answers.type }));
  }
  const { arrayOf, schemaName } = answers;
  return applyDecorators(
    ...documented,
    ApiExtension(ARRAY_SCHEMA_EXTENSION, schemaName),
    ApiResponse({ ...success, type: [arrayOf] }),
  );
}

function shownAsOf(answers: Answer): Type | undefined {
  if ('contentType' in answers) return undefined;
  return 'type' in answers ? answers.type : answers.arrayOf;
}

/** A text is sent in UTF-8. */
function withCharset(contentType: string): string {
  return /^text\/[^;]+$/.test(contentType) ? `${contentType}; charset=utf-8` : contentType;
}

/** A body that is not JSON, for the document: a text, or bytes. */
function contentOf(contentType: string) {
  const type = mediaTypeOf(contentType);
  const schema = { type: 'string' as const, ...(type.startsWith('text/') ? {} : { format: 'binary' }) };
  return { [type]: { schema } };
}

function documentedHeaders(meanings: Readonly<Record<string, string>> = {}, required: boolean) {
  const schema = { type: 'string' as const };
  return Object.fromEntries(
    Object.entries(meanings).map(([name, description]) => [name, { description, required, schema }]),
  );
}

/** OpenAPI extension that passes the description of a tag to document.ts; it is not published. */
export const TAG_EXTENSION = 'x-tag-description';

/** Groups the operations of a controller in the docs, under a name and with a text. */
export function Tag(name: string, description: string): ClassDecorator {
  return applyDecorators(ApiTags(name), ApiExtension(TAG_EXTENSION, description));
}
