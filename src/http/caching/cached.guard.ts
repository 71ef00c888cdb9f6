import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { EarlyResponses } from '../early-response.js';
import { type Answer, ResponseCache } from './response-cache.js';

/** Responds to a request of a `@Cached()` handler from the cache; otherwise notes how to cache the handler's result. */
@Injectable()
export class CachedGuard implements CanActivate {
  constructor(
    private readonly cache: ResponseCache,
    private readonly early: EarlyResponses,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { cache } = this;
    const request = context.getArgByIndex<Request>(0);
    const { method, originalUrl } = request;
    // A request that passes no quota has no version.
    if (method !== 'GET' || (cache.needsDecision && !request.isCounted)) return true;
    // Where they come with the decision on the quota, those of the key are older.
    const seen = cache.needsDecision ? undefined : request.seenVersions;
    // Asked for once: those of a moment before the handler reads hold for what it reads, too.
    const versions = cache.versionsFor(originalUrl, seen);
    const found = this.early.areOpenTo(CachedGuard, context) ? cache.find(originalUrl, versions) : undefined;
    if (found) return this.early.send(context, bodyFor(request, found));
    request.cached = (read) => {
      let isRead = false;
      const reading = (): Promise<Answer> => {
        isRead = true;
        return read();
      };
      const given = (answer: Answer): unknown => (isRead ? answer.body : bodyFor(request, answer));
      const answer = cache.answer(originalUrl, reading, versions);
      return answer instanceof Promise ? answer.then(given) : given(answer);
    };
    return true;
  }
}

/** The body of a response that was read for another request, whose response got its `Link`. */
function bodyFor({ res }: Request, { body, link }: Answer): unknown {
  if (link !== undefined) res?.setHeader('Link', link);
  return body;
}
