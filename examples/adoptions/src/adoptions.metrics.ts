import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Metrics, Transactions } from 'petstore-service';
import type { Repository } from 'typeorm';
import { ADOPTION_STATES, type AdoptionState } from './adoption-states.js';
import { Adoption } from './adoption.entity.js';

/** Metrics of adoptions: how many reach each state in this process, and how many are open in the database. */
@Injectable()
export class AdoptionsMetrics {
  private readonly reached;

  constructor(
    metrics: Metrics,
    private readonly transactions: Transactions,
    @InjectRepository(Adoption) adoptions: Repository<Adoption>,
  ) {
    this.reached = metrics.counter('petstore_adoptions_total', 'Adoptions that reached a state.', ['state']);
    // Starts each series at 0, so that the first adoption counts as an increase.
    for (const state of ADOPTION_STATES) this.reached.inc({ state }, 0);
    metrics.gauge('petstore_adoptions_open', 'Adoptions that are not decided yet.', [], () =>
      adoptions.countBy({ state: 'requested' }),
    );
  }

  /** Counts an adoption that reaches this state, after the commit. */
  count(state: AdoptionState): void {
    this.transactions.afterCommit(() => this.reached.inc({ state }));
  }
}
