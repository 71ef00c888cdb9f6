import { Injectable } from '@nestjs/common';

/** Tells the dispatcher that something may be due: whoever writes a delivery rings after the commit. */
@Injectable()
export class WebhookWake {
  private listener: (() => void) | undefined;
  private count = 0;

  /** How often it was rung. */
  get rings(): number {
    return this.count;
  }

  /** Has this called whenever something may be due. */
  listen(listener: () => void): void {
    this.listener = listener;
  }

  /** Something may be due. */
  ring(): void {
    this.count += 1;
    this.listener?.();
  }
}
