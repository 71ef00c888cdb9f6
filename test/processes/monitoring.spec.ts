import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OnDomainEvent, defineEvent } from '../../src/events/domain-events.js';
import { Job } from '../../src/events/jobs/job.decorator.js';
import { Jobs } from '../../src/events/jobs/jobs.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { metricIn } from '../kit/metric-samples.js';
import { freePort } from '../support/free-port.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, ROOT, serviceOfTest } from '../support/service-process.js';
import { openForTest } from '../support/opened.js';

interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly annotations: { readonly runbook_url: string };
}
const MONITORING = join(ROOT, 'deploy/monitoring');
const textOf = (file: string) => readFileSync(join(MONITORING, file), 'utf8');
const { groups } = parse(textOf('alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
/** The others record the time of a backup. */
const alerts = rules.filter(({ alert }) => alert !== undefined);
const dashboard = JSON.parse(textOf('grafana-dashboard.json')) as {
  templating: { list: { name: string }[] };
  panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[];
};
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);

/** Labels that Prometheus itself gives to what it scrapes. */
const TARGET_LABELS = ['instance', 'job'];

/** The labels of each metric of a scrape; those that have no sample now have none. */
function labelsIn(scrape: string): Map<string, Set<string>> {
  const labels = new Map<string, Set<string>>();
  for (const line of scrape.split('\n')) {
    const [, declared] = /^# TYPE (\w+) /.exec(line) ?? [];
    const { name = declared, set = '' } = /^(?<name>\w+)(?:\{(?<set>.*)\})? /.exec(line)?.groups ?? {};
    if (name === undefined) continue;
    const known = labels.get(name) ?? new Set();
    for (const [, label = ''] of set.matchAll(/(\w+)="/g))
      known.add(label === 'job' ? 'exported_job' : label);
    labels.set(name, known);
  }
  return labels;
}

/** Words of the language of Prometheus that are no metric. */
const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'group_left', 'group_right']);

/** The metrics that an expression names: any name that is not followed by `(`; and the labels that it selects or groups by. */
function metricsIn(expression: string) {
  const labels: string[] = [];
  const collect = (_: string, names: string) => {
    labels.push(...(names.match(/[a-zA-Z_]\w*/g) ?? []));
    return ' ';
  };
  const rest = expression
    .replace(/"[^"]*"/g, '""')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\{([^}]*)\}/g, collect)
    .replace(/\b(?:by|without|on|ignoring) *\(([^)]*)\)/g, collect);
  const names = [...rest.matchAll(/(?<![\w.])[a-zA-Z_:][\w:]*(?! *\(|\w)/g)].map(([name]) => name);
  return { metrics: names.filter((name) => !KEYWORDS.has(name)), labels };
}

const SOLD = defineEvent<{ petId: bigint }>('monitoring.sold', { durable: true, key: ({ petId }) => petId });
@Injectable()
class Worker {
  @Job({ name: 'monitoring.count', every: 60_000 })
  count(): Promise<void> {
    return Promise.resolve();
  }

  @OnDomainEvent(SOLD, { listener: 'monitoring' })
  handle(): void {
    // A listener that handles.
  }
}
@Module({ providers: [Worker] })
class WorkerModule {}

/** A scrape of a service with a job and a listener of durable events. */
async function scrapeOfModules(): Promise<string> {
  const service = await openForTest({ modules: [WorkerModule] });
  await service.app.get(Jobs).run('monitoring.count');
  return (await service.app.get(Metrics).exposition()).text;
}

/** Starts the service with these settings and sends it requests that are answered in several ways. */
async function served(environment: NodeJS.ProcessEnv) {
  const path = await folderOfTest();
  const port = await freePort();
  const service = await serviceOfTest(path, { MANAGEMENT_PORT: String(port), ...environment });
  for (let sent = 0; sent < 3; sent += 1) await service.request('GET', '/v1/pets?limit=1');
  await service.request('GET', '/v1/pets/1');
  await service.request('GET', '/v1/pets', { key: 'wrong' });
  await service.request('GET', '/docs');
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await expect.poll(async () => metricIn(await scrape(), 'http_requests_total', { route: '/docs' })).toBe(1);
  return { scrape };
}

describe('the alerts', () => {
  it.each(alerts)(
    '$alert has a section of docs/operations/monitoring.md that says what to do',
    ({ alert, annotations }) => {
      const [page, anchor] = annotations.runbook_url.split('#');
      expect(page).toBe('{{ $externalLabels.runbooks }}/monitoring.md');
      const text = readFileSync(join(ROOT, 'docs/operations/monitoring.md'), 'utf8');
      const headings = [...text.matchAll(/^#+ (.+)$/gm)];
      expect(anchor).toBe(alert?.toLowerCase());
      expect(headings.map(([, heading = '']) => heading.toLowerCase())).toContain(anchor);
    },
  );
});

describeWith('postgres-server', 'on PostgreSQL with Redis, where it has all metrics,', () => {
  let redis: RedisServer;
  let postgres: PostgresServer;
  beforeAll(async () => {
    [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
  });
  afterAll(async () => {
    await Promise.all([redis.remove(), postgres.remove()]);
  });
  const withRedis = (): NodeJS.ProcessEnv => ({ REDIS_URL: redis.url, REDIS_TIMEOUT_MS: '60000' });

  it('the metrics say whether Redis keeps its data', async () => {
    const { scrape } = await served(withRedis());
    await expect.poll(scrape).toContain('petstore_quota_redis_persistent 0\n');
    expect(metricIn(await scrape(), 'petstore_database_disk_free_bytes')).toBeGreaterThan(0);
    const size = metricIn(await scrape(), 'petstore_database_disk_size_bytes');
    expect(size).toBeGreaterThan(metricIn(await scrape(), 'petstore_database_disk_free_bytes') ?? 0);
    const sunset = metricIn(await scrape(), 'petstore_deprecated_sunset_timestamp_seconds');
    expect(sunset).toBe(Date.parse('2030-12-05T00:00:00Z') / 1_000);
  });

  it('the service exposes every metric and label that alerts and dashboard query', async () => {
    const { scrape } = await served({ ...withRedis(), DATABASE_URL: postgres.url });
    expect(metricIn(await scrape(), 'petstore_build_info')).toBe(1);
    expect(metricIn(await scrape(), 'petstore_database_up')).toBe(1);
    const shown = labelsIn(`${await scrape()}\n${await scrapeOfModules()}`);
    // Of Prometheus, of the timer of deploy/systemd, of a service on SQLite and of one in maintenance mode.
    const ofOthers = ['up', 'petstore_backup_timestamp_seconds', 'petstore_maintenance'];
    const ofSqlite = ['petstore_database_disk_free_bytes', 'petstore_database_disk_size_bytes'];
    for (const name of [...ofOthers, ...ofSqlite]) shown.set(name, new Set());
    const unknown = [...alerts, ...queries].flatMap(({ expr, ...from }) => {
      const { metrics, labels } = metricsIn(expr);
      const named = 'legendFormat' in from ? from.legendFormat : '';
      const all = [...labels, ...[...named.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)];
      const known = new Set([
        ...TARGET_LABELS,
        ...metrics.flatMap((metric) => [...(shown.get(metric) ?? [])]),
      ]);
      return [
        ...metrics.filter((metric) => !shown.has(metric)),
        ...all.filter((label) => !known.has(label)).map((label) => `${label} in ${expr}`),
      ];
    });
    expect(unknown).toEqual([]);
    expect(queries.length).toBeGreaterThan(20);
  });

  describeWith('prometheus', 'promtool', () => {
    const promtool = (args: readonly string[]) =>
      execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' });

    it('takes the configuration and the alerts, and each alert fires when it has to', () => {
      expect(promtool(['check', 'config', join(MONITORING, 'prometheus.yml')])).toContain('SUCCESS');
      const checked = promtool(['check', 'rules', join(MONITORING, 'alerts.yml')]);
      expect(checked).toContain(`${rules.length} rules found`);
      expect(promtool(['test', 'rules', join(MONITORING, 'alerts.test.yml')])).toContain('SUCCESS');
    });
  });
});
