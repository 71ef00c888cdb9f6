import type { Request } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { PARTS, TOKEN, mediaTypeOf } from '../../core/media-type.js';
import { failBody, malformed } from './read-body.js';

/** A boundary (RFC 2046 section 5.1.1). */
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;
/** A quoted string (RFC 9110 section 5.6.4). */
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const PARAMETER = String.raw`[ \t]*;[ \t]*(${TOKEN})=(${TOKEN}|${QUOTED})`;
const PARAMETERS = new RegExp(PARAMETER, 'g');
/** The `Content-Disposition` of a part (RFC 7578 section 4.2). */
const FORM_DATA = new RegExp(`^form-data(?:${PARAMETER})*[ \t]*$`, 'i');
/** A `Content-Type` that busboy can parse; it treats a part with any other as `text/plain`. */
const CONTENT_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:${PARAMETER})*[ \t]*$`);
/** The charsets that busboy decodes exactly; it drops text in an unknown charset. */
const CHARSET = /^(?:utf-?8|(?:us-)?ascii|iso-8859-1|latin1|utf-16le)$/i;
/** An extended value (RFC 8187 section 3.2.1), such as that of `filename*`. */
const EXTENDED = /^(?:utf-8|iso-8859-1)'[^']*'(?:%[\da-f]{2}|[\w!#$&+.^`|~-])+$/i;
/** A file name that multer treats as missing, because it uses the last segment of a path. */
const NAMELESS = /(?:^|[\\/])\.{0,2}$/;
const PROTOTYPE = /(?:^|\[)__proto__(?:$|[[\]])/;

const LINE_BREAK = Buffer.from('\r\n');
/** Maximum size of a part's header, in bytes. Beyond 2,000 fields, busboy ignores the rest. */
const MAX_HEAD_LENGTH = 4_096;

/** Receives the content of a part in pieces; throws if nothing would read it. */
type Content = (piece: Buffer, isLast: boolean) => void;

/**
 * Checks a multipart/form-data body while an interceptor for files reads it. Multer and its parser, busboy, silently skip content that they
 * do not understand. Content that would not reach the handler is therefore an error, with which the body's stream fails. Throws
 * malformed_request for a `Content-Type` without exactly one boundary, and rewrites a valid one in the form that multer parses.
 */
export function checkMultipart(request: Request, { acceptsText }: { readonly acceptsText: boolean }): void {
  const boundary = boundaryOf(request.headers['content-type']);
  request.headers['content-type'] = `multipart/form-data; boundary="${boundary}"`;
  const check = new MultipartCheck(boundary, acceptsText);
  // Just before the reader's listener and not earlier, because a `data` listener starts the stream.
  request.once('resume', () =>
    request.prependListener('data', (chunk: Buffer) => {
      try {
        check.write(chunk);
      } catch (refusal) {
        failBody(request, refusal as Error);
      }
    }),
  );
}

/** The boundary in a `Content-Type`: quoted or not, in any case, among other or empty parameters (RFC 9110 section 5.6.6). */
function boundaryOf(contentType = ''): string {
  const [boundary, second] = (contentType.match(PARTS) ?? [])
    .map((part) => /^\s*boundary\s*=(.*)/i.exec(part)?.[1])
    .filter((value) => value !== undefined)
    .map((value) => unquoted(value.trim()));
  if (boundary === undefined || second !== undefined || !BOUNDARY.test(boundary))
    throw malformed(
      'its Content-Type must contain one boundary of 1 to 70 characters (RFC 2046 section 5.1.1)',
      undefined,
    );
  return boundary;
}

/** The parameters of a valid field, each with its lower-case name and its value as sent. */
function parametersOf(field: string): (readonly [name: string, value: string])[] {
  return [...field.matchAll(PARAMETERS)].map(([, name = '', value = '']) => [name.toLowerCase(), value]);
}

/** An extended value, with its bytes as Latin-1. */
function decoded(extended: string): string {
  return extended
    .replace(/^.*'/, '')
    .replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function unquoted(value: string): string {
  return new RegExp(`^${QUOTED}$`).test(value) ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}

class MultipartCheck {
  // The first boundary needs no preceding line break.
  private pending: Buffer = LINE_BREAK;
  private state: 'content' | 'delimiter' | 'head' = 'content';
  private content: Content = blank;
  private hasEnded = false;
  private readonly delimiter: Buffer;

  constructor(
    boundary: string,
    private readonly acceptsText: boolean,
  ) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  write(chunk: Buffer): void {
    this.pending = Buffer.concat([this.pending, chunk]);
    while (this.step());
  }

  /** Checks the next pending piece; returns whether to continue immediately. */
  private step(): boolean {
    if (this.hasEnded) blank(this.pending);
    else if (this.state === 'content') return this.readContent();
    else if (this.state === 'head') return this.readHead();
    else if (this.pending.length >= 2) return this.readDelimiter();
    return false;
  }

  private readContent(): boolean {
    const { pending, delimiter } = this;
    const at = pending.indexOf(delimiter);
    const isLast = at !== -1;
    const end = isLast ? at : Math.max(0, pending.length - delimiter.length + 1);
    this.content(pending.subarray(0, end), isLast);
    this.pending = pending.subarray(isLast ? at + delimiter.length : end);
    if (isLast) this.state = 'delimiter';
    return isLast;
  }

  private readDelimiter(): boolean {
    const mark = this.pending.toString('latin1', 0, 2);
    if (mark === '--') this.hasEnded = true;
    else if (mark !== '\r\n') throw malformedBody('a line with its boundary contains other characters');
    this.pending = this.pending.subarray(2);
    this.state = 'head';
    return true;
  }

  private readHead(): boolean {
    const end = this.pending.indexOf('\r\n\r\n');
    if ((end === -1 ? this.pending.length : end) > MAX_HEAD_LENGTH)
      throw malformedBody(`the header of a part has more than ${MAX_HEAD_LENGTH} bytes`);
    if (end === -1) return false;
    this.content = this.contentOf(this.pending.toString('latin1', 0, end));
    this.pending = this.pending.subarray(end + 4);
    this.state = 'content';
    return true;
  }

  private contentOf(head: string): Content {
    const fields = head
      .replace(/\r\n(?=[ \t])/g, '')
      .split('\r\n')
      .map((line) => /^([^:]*):(.*)/.exec(line) ?? []);
    const field = (name: string): string[] =>
      fields.flatMap(([, key, value = '']) => (key?.toLowerCase() === name ? value.trim() : []));
    const [disposition = '', second] = field('content-disposition');
    if (second !== undefined || !FORM_DATA.test(disposition))
      throw malformedBody('a part has no valid Content-Disposition: form-data');
    const parameters = parametersOf(disposition);
    const named = (name: string): string[] =>
      parameters.flatMap(([key, value]) => (key === name ? value : []));
    const [name = '', other] = named('name').map(unquoted);
    if (name === '' || other !== undefined) throw malformedBody('a part must have one name');
    if (PROTOTYPE.test(name)) throw malformedBody('a part is named __proto__');
    const malformedOne = parameters.find(([key, value]) => key.endsWith('*') && !EXTENDED.test(value));
    if (malformedOne) throw malformedBody(`a ${malformedOne[0]} is malformed`);
    const [extended] = named('filename*');
    if (/^(?:base64|quoted-printable)$/i.test(field('content-transfer-encoding')[0] ?? ''))
      throw malformedBody('a part has a Content-Transfer-Encoding (RFC 7578 section 4.7)');
    const [contentType = ''] = field('content-type');
    const type = mediaTypeOf(contentType);
    if (type.startsWith('multipart/'))
      throw malformedBody('a part is itself multipart (RFC 7578 section 4.3)');
    // A backslash is a path separator, whether or not it escapes a character.
    const fileName =
      extended === undefined ? (named('filename')[0] ?? '').replace(/^"|"$/g, '') : decoded(extended);
    if (fileName === '' && type !== 'application/octet-stream') {
      if (!this.acceptsText) throw unexpected(name);
      const isValid = CONTENT_TYPE.test(contentType);
      const charset = isValid && parametersOf(contentType).find(([key]) => key === 'charset');
      return textIn(charset ? unquoted(charset[1]) : 'utf-8');
    }
    return NAMELESS.test(fileName) ? empty : () => undefined;
  }
}

function blank(piece: Buffer): void {
  if (/[^ \t\r\n]/.test(piece.toString('latin1'))) throw malformedBody('it contains bytes outside its parts');
}

/** What browsers send if no file is selected. */
function empty(piece: Buffer): void {
  if (piece.length > 0) throw malformedBody('a file has no name');
}

function textIn(charset: string): Content {
  if (!CHARSET.test(charset)) throw malformedBody('the charset of a part is unknown');
  const decoder = new TextDecoder(charset, { fatal: true });
  return (piece, isLast) => {
    try {
      decoder.decode(piece, { stream: !isLast });
    } catch {
      throw malformedBody('a text field does not match its charset');
    }
  };
}

function malformedBody(reason: string): ApiError {
  return malformed(`its body is not valid multipart/form-data: ${reason}`, undefined);
}

function unexpected(field: string): ApiError {
  const message = 'This field is unknown. The operation accepts only files.';
  return new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field, code: 'unknown_field', message }],
  });
}
