import { Injectable } from '@nestjs/common';

/** Whether the service still wants requests. */
@Injectable()
export class Readiness {
  private stopping = false;

  get isStopping(): boolean {
    return this.stopping;
  }

  /** From now on /health/ready answers 503. */
  stop(): void {
    this.stopping = true;
  }
}
