import { randomUUID } from 'node:crypto';
import { Controller, Module, Param, Post, type Type } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import {
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  type Repository,
} from 'typeorm';
import { afterEach, beforeEach, expect } from 'vitest';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { metricIn } from '../kit/metric-samples.js';
import type { TestServiceOptions } from '../kit/test-service.js';
import { addedTable } from './added-table.js';
import { UNLIMITED, openForAll } from './opened.js';

// A module that a team might add: toys at the stalls of a market, for the suites about transactions.

@Entity('stalls')
export class Stall {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { length: 100, unique: true })
  name!: string;

  @OneToMany(() => Toy, ({ stall }) => stall)
  toys?: Relation<Toy>[];
}

@Entity('toys')
export class Toy {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { length: 100, unique: true })
  name!: string;

  @Column({ default: 1 })
  count!: number;

  @ManyToOne(() => Stall, ({ toys }) => toys)
  stall?: Relation<Stall> | null;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;
}

/** A row whose foreign key is checked at COMMIT. */
@Entity('deposits')
export class Deposit {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Stall, { deferrable: 'INITIALLY DEFERRED' })
  stall!: Relation<Stall>;
}

/** The work of the handlers, by the id in the request path. */
const works = new Map<string, () => unknown>();

@Controller({ path: 'market', version: '1' })
class MarketController {
  @Post(':id')
  @Idempotent()
  async work(@Param('id') id: string): Promise<object> {
    await works.get(id)?.();
    return { done: true };
  }
}

const TABLES = [Stall, Toy, Deposit].map(addedTable);

/** Provides the repositories of the toys. */
@Module({ imports: TABLES, controllers: [MarketController], exports: TABLES })
export class MarketModule {}

/** Work that runs in a transaction or in an operation. */
export type Work = () => Promise<unknown>;

/** Runs work in a transaction. Rejects with the error of the work. */
export type Frame = readonly [name: string, run: (work: Work) => Promise<unknown>];

/** Rolls back a transaction by throwing an error. */
export function undo(): never {
  throw new Error('undo');
}

/** Time limit for work that might hang, in milliseconds. A busy machine needs a tenth of it. */
export const TIMELY = { timeout: 30_000 };

/** The result of openMarket(). */
export type Market = Awaited<ReturnType<typeof openMarket>>;

/**
 * A service with the toys, for all tests of a file or of a describe(). Each test starts without toys and stalls, and must release all
 * connections and leave nothing waiting for one.
 */
export async function openMarket(modules: readonly Type[] = [], options: TestServiceOptions = {}) {
  const service = await openForAll({
    database: 'file',
    ...UNLIMITED,
    ...options,
    modules: [MarketModule, ...modules],
  });
  const { app } = service;
  const dataSource = app.get(DataSource);
  const toys = app.get<Repository<Toy>>(getRepositoryToken(Toy));

  /** Calls an operation whose handler runs the work, and returns the response. */
  const respond = async (work: Work, key?: string) => {
    const id = randomUUID();
    works.set(id, work);
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const response = await service.request('POST', `/v1/market/${id}`, { headers });
    works.delete(id);
    return response;
  };

  /** Calls an operation whose handler runs the work. Rejects with the error of the work, or with an error response. */
  const handle = async (work: Work, key?: string): Promise<void> => {
    let failure: unknown;
    const noted: Work = () =>
      work().catch((error: unknown) => {
        failure = error;
        throw error;
      });
    const { status, text } = await respond(noted, key);
    if (failure !== undefined) throw failure;
    if (status !== 201) throw new Error(`${status} ${text}`);
  };

  /** The ways in which a team can run a transaction. */
  const frames: readonly Frame[] = [
    ['dataSource.transaction()', (work) => dataSource.transaction(work)],
    ['a nested transaction', (work) => dataSource.transaction((manager) => manager.transaction(work))],
    ['an @Idempotent() handler', (work) => handle(work, randomUUID())],
    [
      'a nested transaction of an @Idempotent() handler',
      (work) => handle(() => dataSource.transaction(work), randomUUID()),
    ],
  ];

  const uses = async () => {
    const { text } = await app.get(Metrics).exposition();
    return {
      inUse: metricIn(text, 'petstore_database_connections', { state: 'in_use' }),
      waiting: metricIn(text, 'petstore_database_waiting', {}),
    };
  };

  const clear = async () => {
    for (const table of ['deposits', 'toys', 'stalls']) await dataSource.query(`DELETE FROM ${table}`);
    return 'empty';
  };

  let isLeft = false;

  beforeEach(async () => {
    if (isLeft) throw new Error('A test before this one has left a connection in use.');
    // On a very slow machine, the previous test may have caused the service to report an outage.
    await expect
      .poll(() => clear().catch((error: Error) => error.message), { timeout: 20_000 })
      .toBe('empty');
  });
  afterEach(async () => {
    isLeft = true;
    // Jobs and webhooks check every second for due work.
    await expect.poll(uses, { timeout: 10_000 }).toEqual({ inUse: 0, waiting: 0 });
    isLeft = false;
  });

  return {
    service,
    dataSource,
    toys,
    stalls: app.get<Repository<Stall>>(getRepositoryToken(Stall)),
    deposits: app.get<Repository<Deposit>>(getRepositoryToken(Deposit)),
    transactions: app.get(Transactions),
    respond,
    handle,
    frames,
    /** Adds a toy with an INSERT. */
    add: (name: string) => toys.insert({ name }),
    /** The names of all toys, in order. */
    names: async () => (await toys.find()).map(({ name }) => name).toSorted(),
  };
}
