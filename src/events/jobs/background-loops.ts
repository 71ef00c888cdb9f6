import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Settings } from '../../core/config/settings.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { BackgroundLoop, type BackgroundWork } from './background-loop.js';
import { Leases } from './leases.js';

/** Starts, wakes and stops the background loops of this process. The command line, which does not listen, starts none. */
@Injectable()
export class BackgroundLoops implements OnModuleDestroy {
  private readonly loops: BackgroundLoop[] = [];

  constructor(
    private readonly leases: Leases,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Adds a loop that starts when the service starts to listen. */
  add(work: BackgroundWork): BackgroundLoop {
    const loop = this.addLater(work);
    this.host.listen$.subscribe(() => loop.start());
    return loop;
  }

  /** Adds a loop that starts when its `start()` is called. */
  addLater(work: BackgroundWork): BackgroundLoop {
    const loop = new BackgroundLoop(work, this.leases, this.transactions);
    this.loops.push(loop);
    return loop;
  }

  /** Wakes the loop with this lease. Call it after the commit. */
  wake(lease: string): void {
    this.loops.find((loop) => loop.work.lease === lease)?.wake();
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Starts nothing more, waits at most SHUTDOWN_TIMEOUT_MS for running work, then aborts it. */
  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop(this.settings.shutdownTimeoutMs)));
  }
}
