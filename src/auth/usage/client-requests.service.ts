import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Metrics } from '../../core/metrics/metrics.js';
import { Clock, isoOf } from '../../core/time/clock.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { runForRows } from '../../database/rows-as-json.js';
import { WriteBehind } from '../../database/write-behind.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import { startOf } from '../../throttling/quota.js';
import type { Caller } from '../caller.js';
import { RAISE, alertsIn } from './client-alerts.service.js';
import {
  ALL_CLIENTS,
  DEPRECATED,
  type RefusedRequest,
  type RequestCount,
  UNCOUNTED,
  WITHOUT_KEY,
} from './client-requests.entity.js';
import {
  CUT,
  CUT_ALL,
  STORE_ERRORS_OF_KEYS,
  STORE_ERRORS_OF_USERS,
  MAX_OPERATIONS_OF_CLIENT,
  OTHER,
  COPY_LAST_USE,
  sumUp,
} from './client-requests.statements.js';
import { bucketOf } from './latency.js';

/** Maximum numbers of unwritten counts, in total and per client, and of unwritten errors. Beyond that, they are dropped or merged. */
const [MAX_COUNTS, MAX_COUNTS_OF_CLIENT, MAX_ERRORS] = [50_000, 500, 100_000];
/** How many counts and errors are written per second, so that other writers do not wait long. */
const AT_ONCE = 2_000;

/** The outcomes of requests with an expired or revoked key or of a suspended client, which use neither key nor quota. */
const REFUSED_FOR_THE_KEY: readonly string[] = [
  '401 expired_api_key',
  '401 revoked_api_key',
  '403 client_suspended',
];
const UNUSED = new Set(REFUSED_FOR_THE_KEY.map((outcome) => outcome + UNCOUNTED));

/** A completed request of a known caller. */
export interface EndedRequest {
  readonly caller: Caller;
  /** Method and route template, at most 200 characters. */
  readonly operation: string;
  readonly status: number;
  /** The code of the Error body; undefined if none was sent. */
  readonly code: string | undefined;
  readonly isUncounted?: boolean;
  readonly durationMs: number;
  readonly requestId: string;
  readonly address: string | undefined;
}

type MinuteCount = Omit<RequestCount, 'lengthMs'>;

/** A request that returned an error, and its time in ms since the Unix epoch. */
interface StoredError {
  readonly at: number;
  readonly ended: EndedRequest;
}

/**
 * Counts outcomes of requests by client, and stores each client's last errors and the last use of keys. It writes to the database in the
 * background, so no request waits, and buffers a limited number while the database is unavailable. Several processes count together.
 */
@Injectable()
export class ClientRequests extends WriteBehind {
  /** Unwritten counts by client, then by the columns that identify a count. */
  private readonly counts = new Map<string, Map<string, MinuteCount>>();
  /** The count of each client to which its last request was added, because the next is often of the same kind. */
  private readonly lastCounts = new Map<string, MinuteCount>();
  private waitingCounts = 0;
  private readonly errors = new Map<string, StoredError[]>();
  private waitingErrors = 0;
  private readonly byOutcome = new Map<string, number>();

  constructor(
    transactions: Transactions,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    super(transactions, new Logger('Usage'), {
      failing: 'The usage of clients cannot be written; as much as possible is kept in memory',
    });
    metrics.counter(
      'petstore_client_requests_total',
      'Requests with a client’s key, by outcome: 2xx, 304, 4xx, 429, 5xx.',
      ['outcome'],
      () => [...this.byOutcome].map(([outcome, value]) => ({ labels: { outcome }, value })),
    );
  }

  /** Counts a request of a key, and stores it if it returned an error. Without an error, this costs two lookups in memory. */
  note(ended: EndedRequest): void {
    const { caller, operation, status, code = null } = ended;
    const { clientId, keyId } = caller;
    // The user of another credential does not belong to a client.
    if (keyId !== null) {
      const kind = status === 304 || status === 429 ? String(status) : `${Math.floor(status / 100)}xx`;
      this.byOutcome.set(kind, (this.byOutcome.get(kind) ?? 0) + 1);
      const outcome = status < 400 ? kind : `${status} ${code ?? ''}`.trimEnd().slice(0, 90);
      const isUncharged = ended.isUncounted || REFUSED_FOR_THE_KEY.includes(outcome);
      this.count(
        clientId,
        keyId,
        operation,
        isUncharged ? outcome + UNCOUNTED : outcome,
        bucketOf(ended.durationMs),
      );
    }
    // The console closes its own connections when a view is left, which is not an error.
    const isAbandoned = status === 499 && /^GET \/(?:admin|account)\b/.test(operation);
    if (status >= 400 && !isAbandoned && this.waitingErrors < MAX_ERRORS)
      this.bufferErrors(clientId, [{ at: this.clock.now(), ended }]);
  }

  /** Counts a request that was refused and belongs to no client, because it has no key that exists. */
  noteWithoutKey(): void {
    this.count(ALL_CLIENTS, '', '', WITHOUT_KEY, 0);
  }

  /** Counts an admitted call of a deprecated operation. */
  noteDeprecated({ clientId, keyId }: Caller, operation: string): void {
    if (keyId !== null) this.count(clientId, '', operation, DEPRECATED, 0);
  }

  /** Writes everything that is buffered, batch by batch, until a write fails. */
  override async onModuleDestroy(): Promise<void> {
    await super.onModuleDestroy();
    const waiting = (): number => this.counts.size + this.errors.size;
    for (let before = Infinity; waiting() > 0 && waiting() < before; await this.flush()) before = waiting();
  }

  private count(clientId: string, keyId: string, operation: string, outcome: string, bucket: number): void {
    const start = startOf(this.clock.now(), MINUTE_MS);
    const last = this.lastCounts.get(clientId);
    if (
      last?.start === start &&
      last.keyId === keyId &&
      last.operation === operation &&
      last.outcome === outcome &&
      last.bucket === bucket
    ) {
      last.requests += 1;
      return;
    }
    const id = `${start} ${keyId} ${operation} ${outcome} ${bucket}`;
    const own = this.counts.get(clientId);
    const known = own?.get(id);
    if (known) {
      known.requests += 1;
      this.lastCounts.set(clientId, known);
    } else if (own && own.size >= MAX_COUNTS_OF_CLIENT && operation !== OTHER)
      this.count(clientId, keyId, OTHER, UNUSED.has(outcome) ? outcome : classOf(outcome), 0);
    else this.add(id, { clientId, start, keyId, operation, outcome, bucket, requests: 1 });
  }

  private bufferErrors(clientId: string, errors: readonly StoredError[]): void {
    const stored = this.errors.get(clientId) ?? [];
    this.errors.set(clientId, stored);
    stored.push(...errors);
    // In batches, because shifting an array takes longer than counting.
    const dropped =
      stored.length >= 2 * MAX_OPERATIONS_OF_CLIENT
        ? stored.splice(0, stored.length - MAX_OPERATIONS_OF_CLIENT).length
        : 0;
    this.waitingErrors += errors.length - dropped;
  }

  private add(id: string, count: MinuteCount): void {
    const own = this.counts.get(count.clientId) ?? new Map<string, MinuteCount>();
    const known = own.get(id);
    if (known) known.requests += count.requests;
    else if (this.waitingCounts < MAX_COUNTS) {
      this.counts.set(count.clientId, own.set(id, count));
      this.waitingCounts += 1;
    }
  }

  protected override async write(): Promise<void> {
    this.lastCounts.clear();
    const counts = removeFrom(this.counts, (own) => own.size).flatMap(([, own]) => [...own]);
    this.waitingCounts -= counts.length;
    const errors = removeFrom(this.errors, (stored) => Math.min(stored.length, MAX_OPERATIONS_OF_CLIENT));
    for (const [, stored] of errors) this.waitingErrors -= stored.length;
    if (counts.length === 0 && errors.length === 0) return;
    const write = async (manager: EntityManager): Promise<void> => {
      const rows = errors.flatMap(([, stored]) => stored.slice(-MAX_OPERATIONS_OF_CLIENT).map(rowOf));
      const [ofKeys, ofUsers] = [
        rows.filter(({ keyId }) => keyId !== null),
        rows.filter(({ keyId }) => keyId === null),
      ];
      await runForRows(manager, ofKeys, STORE_ERRORS_OF_KEYS);
      await runForRows(manager, ofUsers, STORE_ERRORS_OF_USERS);
      const ofClients = counts.map(([, count]) => count);
      const minutes = [
        ...ofClients,
        ...togetherOf(ofClients.filter(({ clientId }) => clientId !== ALL_CLIENTS)),
      ];
      await runForRows(manager, alertsIn(ofClients), RAISE);
      await runForRows(manager, minutes, sumUp(MINUTE_MS));
      await runForRows(manager, minutes, sumUp(DAY_MS));
      const used = minutes.filter(({ outcome }) => !UNUSED.has(outcome));
      await runForRows(
        manager,
        used.map(({ keyId, start }) => ({ keyId, at: isoOf(start) })),
        COPY_LAST_USE,
        { soon: isoOf(this.clock.now() + MINUTE_MS) },
      );
      await runForRows(
        manager,
        errors.map(([clientId]) => ({ clientId })),
        CUT,
      );
      if (errors.length > 0) await manager.query(CUT_ALL);
    };
    await this.commit(write, () => {
      for (const [id, count] of counts) this.add(id, count);
      for (const [clientId, stored] of errors) {
        const since = this.errors.get(clientId) ?? [];
        this.errors.delete(clientId);
        this.waitingErrors -= since.length;
        this.bufferErrors(clientId, [...stored, ...since]);
      }
    });
  }
}

function rowOf({ at, ended }: StoredError): Omit<RefusedRequest, 'id'> {
  const { caller, operation, status, code = null, requestId, address = null } = ended;
  const { clientId, keyId } = caller;
  const row = { at: isoOf(at), requestId, clientId, keyId, operation, status, address };
  return { ...row, code: code?.slice(0, 96) ?? null };
}

/** The class of an outcome, such as `4xx uncounted` for `404 pet_not_found uncounted`. */
function classOf(outcome: string): string {
  const kind = outcome < '4' || outcome.startsWith('429') ? outcome.slice(0, 3) : `${outcome.charAt(0)}xx`;
  return outcome.endsWith(UNCOUNTED) ? kind + UNCOUNTED : kind;
}

function togetherOf(counts: readonly MinuteCount[]): MinuteCount[] {
  const sums = new Map<string, MinuteCount>();
  for (const { start, operation, outcome, bucket, requests } of counts) {
    const id = `${start} ${operation} ${outcome} ${bucket}`;
    const known = sums.get(id);
    if (known) known.requests += requests;
    else sums.set(id, { clientId: ALL_CLIENTS, start, keyId: '', operation, outcome, bucket, requests });
  }
  return [...sums.values()];
}

/** Takes the first entries, up to one batch, out of a map. `rowsIn` returns the number of rows of an entry. */
function removeFrom<Value>(map: Map<string, Value>, rowsIn: (value: Value) => number): [string, Value][] {
  const removed: [string, Value][] = [];
  let rows = 0;
  for (const entry of map) {
    rows += rowsIn(entry[1]);
    if (rows > AT_ONCE && removed.length > 0) break;
    removed.push(entry);
  }
  for (const [key] of removed) map.delete(key);
  return removed;
}
