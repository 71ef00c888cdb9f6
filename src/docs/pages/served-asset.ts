import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { matchesEntityTag, requireMatch } from '../../http/replies/entity-tag.js';

const compressWithBrotli = promisify(brotliCompress);
const compressWithGzip = promisify(gzip);
/** Brotli's default of 11 takes seconds for the docs' script, in libuv's threads, which sqlite3 needs as well. */
const BROTLI_QUALITY = 5;
/** Maximum number of codings that are read in an `Accept-Encoding`. */
const MAX_CODINGS = 16;

type Coding = 'br' | 'gzip' | 'identity';

interface Representation {
  readonly bytes: Buffer;
  readonly tag: string;
}

/** A static response: loaded on first use, compressed once per coding, and cached in memory. */
export class ServedAsset {
  private readonly representations = new Map<Coding, Promise<Representation>>();

  private readonly type: string;
  private readonly isText: boolean;

  /** The extension of `name` determines the Content-Type. `load` is called once, and again after a failure. */
  constructor(
    name: string,
    private readonly load: () => string | Buffer | Promise<string | Buffer>,
  ) {
    const extension = /\.\w+$/.exec(name)?.[0] ?? '.html';
    this.isText = extension !== '.ico';
    // Browsers and servers use this type for icons, although a different type is registered.
    this.type = this.isText ? extension : 'image/x-icon';
  }

  /** Responds to a GET or HEAD with the asset, 304, or 412 (RFC 9110 section 13.1). */
  async send(request: Request, response: Response): Promise<void> {
    const coding = this.isText ? codingFor(request.headers['accept-encoding'] ?? '') : 'identity';
    const { bytes, tag } = await this.in(coding);
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifMatch !== undefined) requireMatch(ifMatch, tag);
    response.type(this.type);
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', tag);
    if (this.isText) response.vary('Accept-Encoding');
    if (coding !== 'identity') response.setHeader('Content-Encoding', coding);
    if (matchesEntityTag(ifNoneMatch ?? '', tag)) {
      response.removeHeader('Content-Type');
      response.statusCode = 304;
      response.end();
      return;
    }
    response.setHeader('Content-Length', bytes.length);
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  private in(coding: Coding): Promise<Representation> {
    let representation = this.representations.get(coding);
    if (!representation) {
      representation = this.createRepresentation(coding);
      this.representations.set(coding, representation);
      representation.catch(() => this.representations.delete(coding));
    }
    return representation;
  }

  private async createRepresentation(coding: Coding): Promise<Representation> {
    const bytes = await compressed(
      coding === 'identity' ? await this.load() : (await this.in('identity')).bytes,
      coding,
    );
    return { bytes, tag: `"${createHash('sha1').update(bytes).digest('base64url')}"` };
  }
}

async function compressed(content: string | Buffer, coding: Coding): Promise<Buffer> {
  if (coding === 'identity') return Buffer.from(content);
  if (coding === 'gzip') return compressWithGzip(content);
  return compressWithBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}

/** The best coding that the client accepts (RFC 9110 section 12.5.3). */
function codingFor(acceptEncoding: string): Coding {
  const accepted = new Set<string>();
  for (const item of acceptEncoding.toLowerCase().split(',', MAX_CODINGS)) {
    const [coding = '', weight = ''] = item.split(';', 2);
    if (!/^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(weight)) accepted.add(coding.trim());
  }
  return (['br', 'gzip'] as const).find((coding) => accepted.has(coding)) ?? 'identity';
}
