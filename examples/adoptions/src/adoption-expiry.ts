import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Clock, Job, Settings } from 'petstore-service';
import { LessThan, type Repository } from 'typeorm';
import { AdoptionTransitions } from './adoption-transitions.js';
import { Adoption } from './adoption.entity.js';
import { ADOPTIONS_SETTINGS } from './adoptions.settings.js';

/** Adoptions of one transaction: few enough that no request waits for it noticeably. */
const BATCH = 50;

/** Lets animals go that were reserved for longer than ADOPTIONS_RESERVATION_MS. */
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

  /** Expires what is due, a batch at a time, until nothing is left or the signal aborts. */
  @Job({ name: 'adoptions.expire', every: 60_000 })
  async expire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.expireSome()) === BATCH);
  }

  /** Returns their number. */
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
