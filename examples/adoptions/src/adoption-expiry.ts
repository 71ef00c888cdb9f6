import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Clock, Job, Settings } from 'petstore-service';
import { LessThan, type Repository } from 'typeorm';
import { AdoptionTransitions } from './adoption-transitions.js';
import { Adoption } from './adoption.entity.js';
import { ADOPTIONS_SETTINGS } from './adoptions.settings.js';

/** Number of adoptions per transaction: small enough that no request waits noticeably. */
const BATCH = 50;

/** Releases animals that have been reserved for longer than ADOPTIONS_RESERVATION_MS. */
@Injectable()
export class AdoptionExpiry {
  private readonly reservationMs: number;

  constructor(
    @InjectRepository(Adoption) private readonly adoptions: Repository<Adoption>,
    private readonly transitions: AdoptionTransitions,
    private readonly clock: Clock,
    settings: Settings,
  ) {
    this.reservationMs = settings.of(ADOPTIONS_SETTINGS).reservationMs;
  }

  /** Expires overdue adoptions in batches until none is left or the signal aborts. */
  @Job({ name: 'adoptions.expire', every: 60_000 })
  async expire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.expireSome()) === BATCH);
  }

  /** Expires one batch; returns its size. */
  private expireSome(): Promise<number> {
    const before = new Date(this.clock.now() - this.reservationMs).toISOString();
    return this.adoptions.manager.transaction(async () => {
      const due = await this.adoptions.find({
        where: { state: 'requested', requestedAt: LessThan(before) },
        order: { requestedAt: 'ASC', id: 'ASC' },
        take: BATCH,
      });
      for (const adoption of due) await this.transitions.decide(adoption, 'expired');
      return due.length;
    });
  }
}
