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

/** A list that declares filters or sort orders, and a function that returns a sample value for a filter. */
interface List {
  readonly path: string;
  readonly selection: DeclaredSelection;
  readonly valueOf: (filter: DeclaredFilter) => string;
}

/** Additional requirements for combinations of filters. */
export interface IndexedTogether {
  /** Pairs of filters that require a common index, by the path of their list, such as `/v1/toys`. */
  readonly together?: Readonly<Record<string, readonly (readonly [string, string])[]>>;
}

/**
 * Returns the lists of a service, with their filters and sort orders, for which the database has no index; an empty array if there are none.
 * Every list whose query declares `@Filter()` or `@Sort()` is requested without a filter, with each filter, and with each pair of filters, in
 * every sort order. The query plan (EXPLAIN) of each statement must not scan a table or sort its rows, and the index search must include the
 * filter if there is only one. The requests are sent with the key of a separate client.
 *
 *     expect(await unindexedLists(service)).toEqual([]);
 *
 * For a pair of filters, it is enough if the index search includes one of them and the database checks the rows found against the other. If
 * that is too slow, list the pair in `together` to require that the index search includes both.
 */
export async function unindexedLists(
  service: TestService,
  { together = {} }: IndexedTogether = {},
): Promise<string[]> {
  const problems: string[] = [];
  const lists = listsOf(service);
  // The service's own key may have only the scopes of one feature.
  const { key } = await service.issueKey({ plan: 'business' });
  for (const [path, pairs] of Object.entries(together)) {
    const known = lists.find((list) => list.path === path)?.selection.filters ?? [];
    for (const name of pairs.flat())
      if (!known.some(({ parameter }) => parameter === name)) problems.push(`${path} has no filter ${name}.`);
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
        problems.push(
          ...(await problemsOf(service, key, `${list.path}?${query.toString()}`, { used, searched })),
        );
      }
    }
  }
  return problems;
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

/** The parts of a schema that determine which values are valid. */
interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly $ref?: string;
}

/** A value that a parameter accepts, according to its schema in the OpenAPI document. */
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

/** The filters of a request, and the filters that the index search must include. */
interface Filters {
  readonly used: readonly DeclaredFilter[];
  readonly searched: readonly DeclaredFilter[];
}

async function problemsOf(
  service: TestService,
  key: string,
  target: string,
  { used, searched }: Filters,
): Promise<string[]> {
  const dataSource = service.app.get(DataSource);
  const problems: string[] = [];
  // The second page uses a different statement. It exists only if the table has enough rows.
  let next: string | undefined = `${target}&limit=1`;
  for (let page = 1; page <= 2 && next !== undefined; page += 1) {
    const queries: Query[] = [];
    const { status, headers } = await whileRecording(dataSource, queries, () =>
      service.request('GET', next ?? '', { key }),
    );
    // Filters and sort orders may be mutually exclusive, but a request with only one of them must succeed.
    if (status === 400 && used.length + Number(target.includes('sort=')) > 1) return [];
    if (status !== 200) return [`${target} returned ${status}.`];
    const plans = await Promise.all(
      queries.map(({ sql, parameters }) => planOf(dataSource, sql, parameters)),
    );
    const steps = plans.flat();
    problems.push(
      ...badSteps(dataSource, steps, { used, searched }).map(
        (problem) => `${target}, page ${page}: ${problem}`,
      ),
    );
    next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return problems;
}

/** Set in the async context of every request when Node's HTTP server emits the event below. */
const inRequest = new AsyncLocalStorage<true>();
const REQUEST_START = 'http.server.request.start';

/** Records the SELECT statements of requests while `work` runs, but not those of background jobs. */
async function whileRecording<T>(
  dataSource: DataSource,
  queries: Query[],
  work: () => Promise<T>,
): Promise<T> {
  const { logger } = dataSource;
  const recording: Logger = Object.create(logger) as Logger;
  recording.logQuery = (sql, parameters = []) => {
    if (inRequest.getStore() && /^\s*(?:SELECT|WITH)\b/i.test(sql)) queries.push({ sql, parameters });
  };
  const enter = (): void => inRequest.enterWith(true);
  Object.assign(dataSource, { logger: recording });
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
    // A list without a filter may read all rows, in the order of an index.
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
