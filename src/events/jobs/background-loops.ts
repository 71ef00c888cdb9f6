import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Settings } from '../../core/config/settings.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { BackgroundLoop, type BackgroundWork } from './background-loop.js';
import { Leases } from './leases.js';

/** The background loops of this process: one way to begin, wake and stop them. The command line, which does not listen, begins none. */
@Injectable()
export class BackgroundLoops implements OnModuleDestroy {
  private readonly loops: BackgroundLoop[] = [];

  constructor(
    private readonly leases: Leases,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Makes a loop, which begins when the service listens for requests. */
  add(work: BackgroundWork): BackgroundLoop {
    const loop = this.addLater(work);
    this.host.listen$.subscribe(() => loop.begin());
    return loop;
  }

  /** Makes a loop, which begins when its `begin()` is called. */
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

  /** Begins nothing more; waits for what runs, at most SHUTDOWN_TIMEOUT_MS, then aborts it. */
  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop(this.settings.shutdownTimeoutMs)));
  }
}
