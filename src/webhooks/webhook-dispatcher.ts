import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Clock } from '../core/time/clock.js';
import { Settings } from '../core/config/settings.js';
import { OneAtATime } from '../database/one-at-a-time.js';
import { Transactions } from '../database/transactions.js';
import { Leases } from '../events/jobs/leases.js';
import { Running } from '../events/jobs/running.js';
import { DueTimes } from './due-times.js';
import { type Attempting, EndpointLanes } from './endpoint-lanes.js';
import { EventLoopShare } from './event-loop-share.js';
import { KeptLease } from './kept-lease.js';
import { WebhookDeliveries, type WaitingEndpoint } from './webhook-deliveries.js';
import type { WebhookDelivery } from './webhook-delivery.entity.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { type AttemptOutcome, WebhookSender } from './webhook-sender.js';
import { WebhookSettlements } from './webhook-settlements.js';
import { WebhookWake } from './webhook-wake.js';

/** How often what another process has written, or is to be tried again, is looked for, in milliseconds. */
const PERIOD_MS = 1_000;
/** For how many periods without work the lease is kept, which costs two commits to give back and take. */
const IDLE_PERIODS = 5;
/** Messages that an endpoint gets before others have their turn. */
const TURN = 20;
/** How long a stop waits for attempts that are under way, in milliseconds: one that is cut is made again. */
const STOP_MS = 2_000;
/** How long it takes until the database is asked again to note an attempt that it refused to, in milliseconds. */
const NOTE_AGAIN_MS = 1_000;

/**
 * Sends what waits for the endpoints: by one process at a time, which any takes over that listens for requests; to each endpoint one
 * message after the other, to many side by side. The command line only writes messages.
 */
@Injectable()
export class WebhookDispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Webhooks');
  private readonly running = new Running();
  private readonly looks = new OneAtATime(() => this.look());
  private readonly lanes = new EndpointLanes((id, attempting) => this.serve(id, attempting));
  private readonly share = new EventLoopShare();
  private readonly lease: KeptLease;
  private readonly dueTimes: DueTimes;
  private timer: NodeJS.Timeout | undefined;
  /** Aborts when the lease is lost, or the service stops and what runs has had its time; undefined before this process had it. */
  private stopped: AbortSignal | undefined;
  private isServing = false;
  private isWoken = false;
  private idlePeriods = 0;
  /** How many endpoints were found that were to be served. */
  private found = 0;
  /** Whether the database refused what the delivery needs; the log is told when that begins and when it ends. */
  private isFailing = false;
  /** How many attempts wait to be noted. */
  private unnoted = 0;

  constructor(
    private readonly deliveries: WebhookDeliveries,
    private readonly sender: WebhookSender,
    private readonly settlements: WebhookSettlements,
    private readonly metrics: WebhookMetrics,
    private readonly waking: WebhookWake,
    private readonly host: HttpAdapterHost,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
    leases: Leases,
    clock: Clock,
  ) {
    this.lease = new KeptLease(leases, 'webhooks');
    this.dueTimes = new DueTimes(clock);
  }

  onApplicationBootstrap(): void {
    this.waking.listen(() => this.wake());
    this.host.listen$.subscribe(() => this.begin());
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Something may be due: looks in a later turn of the event loop. Call it after the commit. */
  wake(): void {
    if (!this.isServing || this.isWoken) return;
    this.isWoken = true;
    setImmediate(() => {
      this.isWoken = false;
      void this.outside(() => this.looks.run());
    });
  }

  /** Sends what is committed and due by the clock, and waits for it. Never rejects. */
  async deliver(): Promise<void> {
    await this.outside(async () => {
      let before: number;
      do {
        before = this.found;
        await this.looks.run();
        await this.lanes.idle();
      } while (this.found > before);
    });
  }

  /** Begins no attempt any more; waits for those that run, at most 2 s, then aborts them: they are made again. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isServing = false;
    const stopped = this.running.stop(Math.min(this.settings.shutdownTimeoutMs, STOP_MS));
    this.lanes.clear();
    await stopped;
    // A look that has begun before must not take the lease after this.
    await this.looks.run();
    await this.lease.release();
  }

  private begin(): void {
    if (this.running.isStopping) return;
    this.isServing = true;
    this.timer = setInterval(() => void this.outside(() => this.tick()), PERIOD_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
    this.wake();
  }

  /** A caller's own transaction would show messages that it may yet undo, and wait for itself. */
  private outside<T>(work: () => T): T {
    return this.transactions.outside(work);
  }

  private async tick(): Promise<void> {
    this.idlePeriods = this.lanes.isIdle ? this.idlePeriods + 1 : 0;
    await this.looks.run();
  }

  /** Looks for what is due, and has it sent. Never rejects. */
  private async look(): Promise<void> {
    if (this.running.isStopping) return;
    try {
      // What ran under a lease that was lost must have ended.
      if (this.stopped?.aborted) await this.lanes.idle();
      let due = await this.due();
      if (due.length === 0) return await this.giveBackIfIdle();
      const wasKept = this.lease.isKept;
      if (!(await this.hasLease())) return;
      // Another process may have sent some of it before this one had the lease.
      if (!wasKept) due = await this.due();
      if (this.running.isStopping) return;
      for (const { id, failures } of due) if (this.lanes.add(id, failures > 0)) this.found += 1;
      if (this.isFailing && this.unnoted === 0) {
        this.isFailing = false;
        this.logger.log('Webhooks are delivered again');
      }
    } catch (error) {
      this.tellOfDatabase(error);
    }
  }

  private async due(): Promise<WaitingEndpoint[]> {
    // Mostly nothing waits, and this asks a prepared statement.
    if (!(await this.deliveries.isAnyWaiting())) return [];
    return this.dueTimes.due(await this.deliveries.waitingEndpoints());
  }

  private async giveBackIfIdle(): Promise<void> {
    if (this.idlePeriods >= IDLE_PERIODS && this.lanes.isIdle) await this.lease.release();
  }

  private async hasLease(): Promise<boolean> {
    const wasKept = this.lease.isKept;
    const lost = await this.lease.take();
    if (lost && (!wasKept || this.stopped?.aborted))
      this.stopped = listenedToByMany(AbortSignal.any([lost, this.running.signal]));
    return lost !== undefined;
  }

  /** Sends some of what waits for an endpoint; answers whether more may be sent at once. Never rejects. */
  private async serve(id: string, attempting: Attempting): Promise<boolean> {
    const served = await this.running.run(`webhooks to ${id}`, async () => {
      try {
        for (let sent = 0; sent < TURN; sent += 1) if (!(await this.sendFirst(id, attempting))) return false;
        return true;
      } catch (error) {
        this.tellOfDatabase(error);
        return false;
      }
    });
    return served ?? false;
  }

  /** Sends the first message that waits for an endpoint; answers whether it was delivered. */
  private async sendFirst(id: string, attempting: Attempting): Promise<boolean> {
    await this.share.turn(() => this.running.isStopping);
    const { stopped } = this;
    if (!stopped || stopped.aborted || this.running.isStopping) return false;
    const delivery = await this.deliveries.first(id);
    if (!delivery) return false;
    const { endpoint, message } = delivery;
    const { dueAt, delay } = endpoint;
    if (!this.dueTimes.isDue({ id, dueAt: Number(dueAt), delay })) return false;
    const attempt = { url: endpoint.url, id: message.id, payload: message.payload, endpoint };
    const outcome = await attempting(() => this.sender.send(attempt, stopped));
    this.metrics.count(outcome.is);
    await this.settle(delivery, outcome, stopped);
    return outcome.is === 'delivered';
  }

  /** An attempt that cannot be noted would be made again each second: it is kept until it can be. */
  private async settle(
    delivery: WebhookDelivery,
    outcome: AttemptOutcome,
    stopped: AbortSignal,
  ): Promise<void> {
    for (;;)
      try {
        return await this.settlements.settle(delivery, outcome);
      } catch (error) {
        this.tellOfDatabase(error);
        this.unnoted += 1;
        await pause(NOTE_AGAIN_MS, undefined, { signal: stopped }).finally(() => (this.unnoted -= 1));
      }
  }

  private tellOfDatabase(error: unknown): void {
    if (!this.isFailing && !this.running.isStopping)
      this.logger.error('Webhooks cannot be delivered: the database refuses it', error);
    this.isFailing = true;
  }
}

/** Each attempt that is under way listens: no leak to be warned of. */
function listenedToByMany(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}
