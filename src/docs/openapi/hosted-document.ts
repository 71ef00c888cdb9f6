import { createHash } from 'node:crypto';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { namesEntityTag, requireMatch } from '../../http/caching/entity-tag.js';
import { originOf } from '../../http/request-origin.js';

/** Stands for the origin of a request where a document is written; reserved names lead nowhere (RFC 2606 section 2). */
const ORIGIN = 'http://origin.invalid';

/** The document, cut where the address of its first server stands. */
interface Cut {
  readonly before: string;
  readonly path: string;
  readonly after: string;
  readonly digest: string;
}

/**
 * A document whose first server is a path of this service: each answer names it in full, by the origin of its request, so that
 * tools that keep the document know where it is from. Nothing is kept for an origin, and no cache may give one client's answer to
 * another: a request may name any host. It is not compressed, because it is served so outside production only.
 */
export class HostedDocument {
  private cut: Promise<Cut> | undefined;

  /** `write` makes the text of a document, as JSON or as YAML, and `type` is its Content-Type. */
  constructor(
    private readonly type: string,
    private readonly load: () => Promise<OpenAPIObject>,
    private readonly write: (document: OpenAPIObject) => string | Promise<string>,
  ) {}

  /** Answers a GET or HEAD with it, with 304, or with 412 (RFC 9110 section 13.1). */
  async send(request: Request, response: Response): Promise<void> {
    this.cut ??= this.make().catch((error: unknown) => {
      this.cut = undefined;
      throw error;
    });
    const { before, path, after, digest } = await this.cut;
    const origin = originOf(request);
    // Paths are put behind the address of a server as they are, so it ends in no slash of its own (OpenAPI, "Server Object").
    const address = JSON.stringify(origin === undefined ? path : origin + path.replace(/\/$/, ''));
    const tag = `"${createHash('sha1').update(digest).update(address).digest('base64url')}"`;
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifMatch !== undefined) requireMatch(ifMatch, tag);
    response.setHeader('Content-Type', this.type);
    response.setHeader('Cache-Control', 'private, no-cache');
    response.setHeader('ETag', tag);
    response.setHeader('Vary', 'Host, X-Forwarded-Host, X-Forwarded-Proto');
    if (namesEntityTag(ifNoneMatch ?? '', tag)) {
      response.removeHeader('Content-Type');
      response.statusCode = 304;
      response.end();
      return;
    }
    const text = before + address + after;
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  private async make(): Promise<Cut> {
    const document = await this.load();
    const [first, ...others] = document.servers ?? [];
    const path = first?.url ?? '';
    const text = await this.write({ ...document, servers: [{ ...first, url: ORIGIN }, ...others] });
    // JSON quotes the address and YAML does not; a quoted one is a scalar of both.
    const [before = '', after = ''] = text.split(new RegExp(`"?${ORIGIN}"?`));
    const digest = createHash('sha1').update(text).digest('base64url');
    return { before, path, after, digest };
  }
}
