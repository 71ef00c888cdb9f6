import { Injectable, Logger } from '@nestjs/common';
import type { BackgroundLoop, WorkItem } from '../events/jobs/background-loop.js';
import { BackgroundLoops } from '../events/jobs/background-loops.js';
import { EventLoopShare } from './event-loop-share.js';
import { DueDeliveries, type DueEndpoint, WEBHOOKS_LEASE } from './due-deliveries.js';
import { WebhookFanOuts } from './webhook-fan-outs.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookSettlements } from './webhook-settlements.js';

/** How long the lease is kept without work, in seconds, because messages arrive one by one. */
const LEASE_SECONDS = 5;
/** Maximum number of concurrent attempts, and of those to endpoints that failed before, which must not occupy every slot. */
const MAX_CONCURRENT = 1_000;
const MAX_FAILING = 500;
/** Messages sent to an endpoint in a row before due endpoints are read again. */
const EVENT_LOOP_TURN = 20;
/** The key of the work item that fans out messages; it cannot be the id of an endpoint. */
const FAN_OUT = 'fan-out';
/** How long shutdown waits for running attempts, in milliseconds; aborted attempts are repeated later. */
const STOP_MS = 2_000;

/**
 * Sends waiting deliveries: to each endpoint one message after the other, to many endpoints in parallel. One process at a time does so,
 * under a lease that any serving process can take over. The command line only writes messages.
 */
@Injectable()
export class WebhookDispatcher {
  private readonly loop: BackgroundLoop;
  private readonly share = new EventLoopShare(() => this.loop.isStopping);
  /** Running attempts to endpoints that failed before. */
  private failing = 0;

  constructor(
    private readonly fanOuts: WebhookFanOuts,
    private readonly deliveries: DueDeliveries,
    private readonly sender: WebhookSender,
    private readonly settlements: WebhookSettlements,
    private readonly metrics: WebhookMetrics,
    loops: BackgroundLoops,
  ) {
    this.loop = loops.add({
      lease: WEBHOOKS_LEASE,
      leaseSeconds: LEASE_SECONDS,
      stopMs: STOP_MS,
      maxConcurrent: MAX_CONCURRENT,
      findDue: (inProgress) => this.due(inProgress),
      record: () => settlements.record(),
      logger: new Logger('Webhooks'),
      refused: 'Webhooks cannot be delivered because the database failed',
      recovered: 'Webhooks are delivered again',
    });
  }

  /** Sends everything that is committed and due, and waits for that. Never rejects. */
  async deliver(): Promise<void> {
    await this.loop.run();
  }

  /** A work item for messages to fan out, and one for each due endpoint, failing ones last. */
  private async due(inProgress: ReadonlySet<string>): Promise<WorkItem[]> {
    const isFanOut = !inProgress.has(FAN_OUT) && (await this.fanOuts.isDue());
    const endpoints = (await this.deliveries.dueEndpoints()).filter(({ id }) => !inProgress.has(id));
    const healthy = endpoints.filter(({ failures }) => failures === 0);
    const failing = endpoints.filter(({ failures }) => failures > 0).slice(0, MAX_FAILING - this.failing);
    return [
      ...(isFanOut ? [{ key: FAN_OUT, run: () => this.fanOuts.run().then(() => true) }] : []),
      ...[...healthy, ...failing].map((endpoint) => this.workItemOf(endpoint)),
    ];
  }

  private workItemOf({ id, failures }: DueEndpoint): WorkItem {
    const isFailing = Number(failures > 0);
    const run = (signal: AbortSignal): Promise<boolean> => {
      this.failing += isFailing;
      return this.serve(id, signal).finally(() => (this.failing -= isFailing));
    };
    return { key: id, run };
  }

  /** Sends the waiting deliveries of an endpoint one after the other, until one fails or cannot be recorded. */
  private async serve(id: string, signal: AbortSignal): Promise<boolean> {
    for (let sent = 0; sent < EVENT_LOOP_TURN; sent += 1) {
      const isMore = await this.sendFirst(id, signal);
      // A delivery that is not recorded would be read and sent again. The loop logs the database's error.
      const isRecorded = await this.settlements.record().then(
        () => true,
        () => false,
      );
      if (!isMore || !isRecorded) break;
    }
    return !signal.aborted;
  }

  /** Sends the first waiting delivery of an endpoint; returns whether it was delivered and more wait. */
  private async sendFirst(id: string, signal: AbortSignal): Promise<boolean> {
    await this.share.nextSlot();
    if (signal.aborted || this.loop.isStopping) return false;
    const delivery = await this.deliveries.first(id);
    if (!delivery) return false;
    const outcome = await this.sender.send(delivery, signal);
    this.metrics.count(outcome.is);
    this.settlements.add(delivery, outcome);
    return outcome.is === 'delivered' && Boolean(delivery.isMore);
  }
}
