import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Application } from 'express';
import { DataSource, type Logger } from 'typeorm';
import { declaredOn } from '../../src/core/declared-operation.js';
import { parametersOf } from '../../src/http/operations/handler-parameters.js';
import { routesOf } from '../../src/http/operations/registered-routes.js';
import {
  type DeclaredFilter,
  type DeclaredSelection,
  declaredSelectionOf,
} from '../../src/http/paging/selection.decorators.js';
import { type PlanStep, planOf } from './query-plans.js';
import type { TestService } from './test-service.js';

interface Query {
  readonly sql: string;
  readonly parameters: unknown[];
}

/** A list that declares filters or orders, with the texts that its filters are tried with. */
interface List {
  readonly path: string;
  readonly selection: DeclaredSelection;
  readonly valueOf: (filter: DeclaredFilter) => string;
}

/** Requirements on lists beyond each single filter. */
export interface IndexedTogether {
  /** Pairs of filters, by the path of their list, such as `/v1/toys`, that need a common index. */
  readonly together?: Readonly<Record<string, readonly (readonly [string, string])[]>>;
}

/**
 * The lists of a service, and the ways to filter and order them, for which the database has no index; empty if there are no such lists.
 * Every list whose query declares `@Filter()` or `@Sort()` is requested without a filter, with each filter, and with every two
 * of them, in each order, and its statements are explained (EXPLAIN): none may scan a table or sort its rows, and a
 * single filter must be a part of the search. It uses some requests of a separate client.
 *
 *     expect(await unindexedLists(service)).toEqual([]);
 *
 * Of two filters together the search needs one, and the rows are compared with the other. Where that is too slow, `together`
 * names the filters that must both be a part of the search.
 */
export async function unindexedLists(
  service: TestService,
  { together = {} }: IndexedTogether = {},
): Promise<string[]> {
  const faults: string[] = [];
  const lists = listsOf(service);
  // The key of a suite may have the scopes of one feature alone.
  const { key } = await service.issueKey({ plan: 'business' });
  for (const [path, pairs] of Object.entries(together)) {
    const known = lists.find((list) => list.path === path)?.selection.filters ?? [];
    for (const name of pairs.flat())
      if (!known.some(({ parameter }) => parameter === name)) faults.push(`${path} has no filter ${name}.`);
  }
  for (const list of lists) {
    const { filters, sort } = list.selection;
    const searchedTogether = together[list.path] ?? [];
    const pairs = filters.flatMap((one, at) => filters.slice(at + 1).map((other) => [one, other]));
    for (const used of [[], ...filters.map((filter) => [filter]), ...pairs]) {
      const isPair = searchedTogether.some((pair) => isSame(pair, used));
      const searched = used.length === 1 || isPair ? used : [];
      for (const order of [undefined, ...(sort?.by ?? [])]) {
        const query = new URLSearchParams(
          used.map((filter): [string, string] => [filter.parameter, list.valueOf(filter)]),
        );
        if (sort && order !== undefined) query.set(sort.parameter, order);
        faults.push(
          ...(await faultsOf(service, key, `${list.path}?${query.toString()}`, { used, searched })),
        );
      }
    }
  }
  return faults;
}

function isSame(pair: readonly string[], used: readonly DeclaredFilter[]): boolean {
  return used.length === pair.length && used.every(({ parameter }) => pair.includes(parameter));
}

function listsOf(service: TestService): List[] {
  const application = service.app.getHttpAdapter().getInstance() as Application;
  return routesOf(application).flatMap(({ method, path, handler }) => {
    const { controller, method: name } = declaredOn(handler);
    if (method !== 'GET' || !controller || name === undefined) return [];
    const query = parametersOf(controller, name).find(({ kind }) => kind === RouteParamtypes.QUERY);
    const selection = query?.metatype && declaredSelectionOf(query.metatype);
    if (!selection) return [];
    const valueOf = ({ parameter }: DeclaredFilter) => sampleOf(service, path, parameter);
    return [{ path: path.replace(/:\w+/g, '1'), selection, valueOf }];
  });
}

/** The parts of a schema that decide about a value. */
interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly $ref?: string;
}

/** A text that the parameter takes, by its schema in the OpenAPI document. */
function sampleOf({ document }: TestService, path: string, parameter: string): string {
  const template = path.replace(/^\/v\d+/, '').replace(/:(\w+)/g, '{$1}');
  const declared = (document.paths[template]?.get?.parameters ?? []).find(
    (one) => 'name' in one && one.name === parameter,
  );
  const schema = (declared && 'schema' in declared ? declared.schema : {}) as Schema;
  const textOf = ({ type, format, enum: values, items, $ref }: Schema): string => {
    if ($ref !== undefined)
      return textOf((document.components?.schemas?.[$ref.split('/').at(-1) ?? ''] ?? {}) as Schema);
    if (items) return items.enum ? items.enum.slice(0, 3).join(',') : `${textOf(items)},${textOf(items)}`;
    if (values) return String(values[0]);
    if (format === 'date-time') return '2026-01-01T00:00:00.000Z';
    if (format === 'uuid') return '0b0a6f2d-5b0f-4c0e-9d2c-6d8ab0a4a6cf';
    if (type === 'boolean') return 'true';
    return type === 'integer' ? '1' : 'a';
  };
  return textOf(schema);
}

/** The filters of a request, and those that must be a part of the search. */
interface Filters {
  readonly used: readonly DeclaredFilter[];
  readonly searched: readonly DeclaredFilter[];
}

async function faultsOf(
  service: TestService,
  key: string,
  target: string,
  { used, searched }: Filters,
): Promise<string[]> {
  const dataSource = service.app.get(DataSource);
  const faults: string[] = [];
  // The page that follows starts by another statement; there is one when the table has enough rows.
  let next: string | undefined = `${target}&limit=1`;
  for (let page = 1; page <= 2 && next !== undefined; page += 1) {
    const queries: Query[] = [];
    const { status, headers } = await whileNoting(dataSource, queries, () =>
      service.request('GET', next ?? '', { key }),
    );
    // Filters and orders may exclude each other; a single filter, without an order, must succeed.
    if (status === 400 && used.length + Number(target.includes('sort=')) > 1) return [];
    if (status !== 200) return [`${target} responds ${status}.`];
    const plans = await Promise.all(
      queries.map(({ sql, parameters }) => planOf(dataSource, sql, parameters)),
    );
    const steps = plans.flat();
    faults.push(
      ...badSteps(dataSource, steps, { used, searched }).map((fault) => `${target}, page ${page}: ${fault}`),
    );
    next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return faults;
}

/** Set in the async context of a request, from the event of Node's HTTP server. */
const inRequest = new AsyncLocalStorage<true>();
const REQUEST_START = 'http.server.request.start';

/** Notes the SELECTs of requests during the work, but not those of background work. */
async function whileNoting<T>(dataSource: DataSource, queries: Query[], work: () => Promise<T>): Promise<T> {
  const { logger } = dataSource;
  const noting: Logger = Object.create(logger) as Logger;
  noting.logQuery = (sql, parameters = []) => {
    if (inRequest.getStore() && /^\s*SELECT\b/i.test(sql)) queries.push({ sql, parameters });
  };
  const enter = (): void => inRequest.enterWith(true);
  Object.assign(dataSource, { logger: noting });
  subscribe(REQUEST_START, enter);
  try {
    return await work();
  } finally {
    unsubscribe(REQUEST_START, enter);
    Object.assign(dataSource, { logger });
  }
}

function badSteps(dataSource: DataSource, steps: readonly PlanStep[], { used, searched }: Filters): string[] {
  const tables = new Map(dataSource.entityMetadatas.map((entity) => [entity.tableName, entity]));
  const isBad = ({ isSort, table = '', scan }: PlanStep) =>
    // Without a filter every row is listed, in the order of an index.
    isSort || (scan && tables.has(table) && (used.length > 0 || scan === 'without an index'));
  const bad = [...new Set(steps.filter(isBad).map(({ text }) => text))];
  if (searched.length === 0) return bad;
  const isSearched = steps.some(({ table = '', columns }) =>
    searched.every(({ property }) =>
      columns.includes(tables.get(table)?.findColumnWithPropertyName(property)?.databaseName ?? property),
    ),
  );
  const names = searched.map(({ parameter }) => parameter);
  return isSearched ? bad : [...bad, `no search by ${names.join(' and ')}`];
}
