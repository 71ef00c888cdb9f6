import type { Request, Response } from 'express';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { resume, suspend } from '../core/requests-in-flight.js';
import { TransientMap } from '../core/transient-map.js';
import { quotaSubjectOf } from '../throttling/quota-policy.js';
import { refusalOf } from '../throttling/quota-refusals.js';
import type { QuotaService } from '../throttling/quota.service.js';
import type { QuotaSubject } from '../throttling/quota.js';

/** How many requests from an address may wait once it has used up its attempts in this minute. */
const MAX_WAITING = 8;

/** A request that waits for a slot. */
interface Waiter {
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

interface AddressQueue {
  running: number;
  /** In order of arrival. */
  readonly waiting: Set<Waiter>;
}

/**
 * Limits lookups of unknown credentials by address. As many run at the same time as the address has failed attempts left in this minute,
 * but at least one; the others wait. Once none are left, only a few may wait, and the rest are refused. A request does not count as load
 * until its credential is known, so that neither one address nor a slow lookup causes requests from others to be refused.
 */
export class CredentialLookupLimiter {
  private readonly queues = new TransientMap<string, AddressQueue>();

  constructor(private readonly quota: QuotaService) {}

  /**
   * Waits until a request may look up its credential. Call the returned function after the lookup. Throws rate_limit_exceeded if too many
   * requests wait, and service_unavailable if the counters cannot be read or the client has disconnected.
   */
  async acquire(request: Request, response: Response): Promise<() => void> {
    const address = quotaSubjectOf(request);
    const queue = this.queues.get(address.id) ?? { running: 0, waiting: new Set() };
    this.queues.set(address.id, queue);
    suspend(response);
    try {
      await new Promise<void>((start, refuse) => {
        const waiter = { start, refuse };
        queue.waiting.add(waiter);
        response.once('close', () => queue.waiting.delete(waiter) && refuse(clientHasGone()));
        void this.advance(address, queue);
      });
    } catch (refusal) {
      resume(response);
      throw refusal;
    }
    return () => {
      resume(response);
      queue.running -= 1;
      void this.advance(address, queue);
    };
  }

  /** Starts the next waiting requests, and refuses those that may not wait. */
  private async advance(address: QuotaSubject, queue: AddressQueue): Promise<void> {
    try {
      const verdict = queue.waiting.size > 0 ? await this.quota.peek(address) : undefined;
      const max = Math.max(1, verdict?.windows[0]?.remaining ?? 0);
      for (const waiter of queue.waiting) {
        if (queue.running >= max) break;
        queue.running += 1;
        queue.waiting.delete(waiter);
        waiter.start();
      }
      if (verdict?.admitted === false)
        for (const waiter of [...queue.waiting].slice(MAX_WAITING)) {
          queue.waiting.delete(waiter);
          waiter.refuse(refusalOf(verdict, '1'));
        }
    } catch (failure) {
      for (const waiter of queue.waiting) waiter.refuse(failure);
      queue.waiting.clear();
    }
    if (queue.running === 0 && queue.waiting.size === 0 && this.queues.get(address.id) === queue)
      this.queues.delete(address.id);
  }
}

/** Never sent, because the client is gone; it ends the work on the request. */
function clientHasGone(): ApiError {
  return new ApiError(HTTP_ERRORS.service_unavailable, {
    params: { reason: 'the client has gone' },
    isLogged: true,
  });
}
