import { HttpAdapterHost } from '@nestjs/core';
import { OF_EVERY_OPERATION } from '../adapter/operation-plan.js';
import { ServiceAdapter } from '../adapter/service-adapter.js';
import type { InterceptorsOfCached } from '../caching/interceptors-of-cached.js';
import type { Findings } from './checked-handlers.js';

const GUIDE = 'docs/guides/interceptors-and-speed.md tells what to do.';

/** Warns, in one line each, of what makes many requests slower than they have to be. */
export function checkSpeed(
  { httpAdapter }: HttpAdapterHost,
  interceptors: InterceptorsOfCached,
  { warnings }: Findings,
): void {
  const runByNest = httpAdapter instanceof ServiceAdapter ? httpAdapter.runByNest : new Set<string>();
  // An operation that asks for what only Nest has is its author's choice.
  const reasons = Object.values(OF_EVERY_OPERATION).filter((reason) => runByNest.has(reason));
  if (reasons.length > 0)
    warnings.push(
      `Nest runs every operation, several times slower than compiled: ${reasons.join('; ')}. ${GUIDE}`,
    );
  const changing = interceptors.changingAnswers().map((one) => one.constructor.name);
  if (changing.length > 0)
    warnings.push(
      `${changing.join(', ')} may change answers, so that @Cached() answers are made anew around what the handler has ` +
        `answered. If it changes none, declare @ChangesNoAnswer(). ${GUIDE}`,
    );
}
