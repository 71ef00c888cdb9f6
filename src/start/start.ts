import 'reflect-metadata';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import { type AppOptions, createApp } from '../app.setup.js';
import { listenError, reachedAt } from '../core/config/listen-errors.js';
import { readDatabaseUrl, redactedDatabaseUrl } from '../core/config/database-url.js';
import { Settings, loadSettings } from '../core/config/settings.js';
import { firstStartText, prepareFirstStart } from './first-start.js';
import { SwaggerUi } from '../docs/openapi/swagger-ui.js';
import { Readiness } from '../docs/health/health.controller.js';
import { Connections } from '../http/server/connections.js';
import { stopServing } from '../http/server/graceful-stop.js';
import { BackgroundLoops } from '../events/jobs/background-loops.js';
import { Jobs } from '../events/jobs/jobs.js';
import { ServerLock } from '../database/sqlite/server-lock.js';
import { checkFile } from '../database/sqlite/availability/usable-file.js';
import { AppLogger } from '../core/logging/app-logger.js';
import { ManagementServer } from '../core/metrics/management-server.js';
import { softwareVersion } from '../core/software-version.js';
import { serveMaintenance } from './maintenance.js';
import { advise } from './start-advice.js';
import { waitForDatabase } from './wait-for-database.js';
import { watchDescriptors } from './watch-descriptors.js';
import { SoleProcessLock } from '../throttling/memory/sole-process-lock.js';
import { DataVersion } from '../database/data-version.js';
import { flushSpans, startTracing } from '../core/tracing.js';

/** Minimum time for the last writes to the database during shutdown, in milliseconds, even if less is left of SHUTDOWN_TIMEOUT_MS. */
const FLUSH_MS = 2_000;

/** Handles a signal. */
export type Stop = (signal: string) => void;

/** Starts the service. Calls `running` as soon as it listens: from then on, signals must stop it gracefully. Throws if it cannot start. */
export async function start(
  running: (stop: Stop) => void,
  options: Pick<AppOptions, 'modules' | 'settings'>,
): Promise<void> {
  const settings = loadSettings(options.settings);
  if (settings.maintenance === 'on') return startMaintenance(settings, running);
  const file = fileOf(settings);
  // A refused startup must create nothing, so a new file is locked only once it exists.
  const exists = file !== undefined && existsSync(file);
  if (exists) await lock(file);
  await waitForDatabase(settings);
  const warning = await waitForOlderBuilds(settings);
  const isTraced = await startTracing();
  const app = await createApp(options);
  if (file !== undefined && !exists) await lock(file);
  const { host, port } = app.get(Settings);
  const logger = app.get(AppLogger);
  logger.log(`${versionText()}, with ${redactedDatabaseUrl(settings.databaseUrl)}`, 'Start');
  if (warning !== undefined) logger.warn(warning, 'Start');
  await app.get(SoleProcessLock).start();
  await app.listen(port, host).catch((error: NodeJS.ErrnoException) => {
    throw listenError({ variable: 'PORT', port, host }, error);
  });
  running(stopOf(app));
  // Logs at startup if nothing can be cached. Not earlier, because initialization blocks the event loop, on a busy machine for longer than
  // a connection that asks for a password may take.
  void app.get(DataVersion).fresh();
  const managementAt = await app.get(ManagementServer).listen();
  const origin = reachedAt(app.getHttpServer() as Server);
  // Only after both ports are bound. If a port is in use, the failed startup must leave the database empty.
  const isFirst = await prepareFirstStart(app, (key) =>
    process.stdout.write(`${firstStartText(key, origin, app.get(SwaggerUi).examples())}\n`),
  );
  await advise(app, isFirst);
  logger.log(`Listening on ${origin}, docs at ${origin}/docs`, 'Start');
  const onManagement = app.get(ManagementServer).administration ? ', /admin and /console' : '';
  if (managementAt !== null)
    logger.log(`Metrics on port ${managementAt} at /metrics${onManagement}`, 'Start');
  if (isTraced) logger.log('Requests are traced by the registered OpenTelemetry SDK', 'Start');
  watchDescriptors();
  app.get(Jobs).start();
}

/** Starts the maintenance mode, which does not use a database. */
async function startMaintenance(settings: Settings, running: (stop: Stop) => void): Promise<void> {
  const { server, logger, stop } = await serveMaintenance(settings);
  running((signal) => {
    logger.log(`${signal}: stopped`, 'Stop');
    void stop().then(() => process.exit(0));
  });
  logger.log(`${versionText()}, without a database`, 'Start');
  logger.warn('MAINTENANCE is on: every request except /health/live returns 503', 'Start');
  logger.log(`Listening on ${reachedAt(server)}`, 'Start');
}

function versionText(): string {
  return `Version ${softwareVersion()} on Node.js ${process.versions.node}, in ${process.cwd()}`;
}

/** The SQLite file of the service. An existing file is locked before its migrations run and before its last writes are read. */
function fileOf({ databaseUrl }: Settings): string | undefined {
  const address = readDatabaseUrl(databaseUrl);
  return address?.kind === 'sqlite' && address.file !== ':memory:' ? address.file : undefined;
}

/** Locks a file until this process exits. Throws Refusal while another process serves it. */
async function lock(file: string): Promise<void> {
  await checkFile(file);
  await ServerLock.toServe(file);
}

/**
 * Runs before the migrations, after which these builds could not serve. Throws Refusal while their instances count in Redis; returns a
 * warning if Redis does not respond.
 */
async function waitForOlderBuilds({ redisUrl, redisCa }: Settings): Promise<string | undefined> {
  if (redisUrl === null) return undefined;
  const older = await import('../throttling/redis/older-builds.js');
  return older.waitForOlderBuilds({ url: redisUrl, ca: redisCa });
}

/** Creates the handler that stops a running service; a second signal ends it immediately. */
function stopOf(app: INestApplication): Stop {
  const logger = app.get(AppLogger);
  let stopping = false;
  const finish = async (signal: string): Promise<void> => {
    const { shutdownDelayMs, shutdownTimeoutMs } = app.get(Settings);
    app.get(Readiness).isStopping = true;
    if (shutdownDelayMs > 0) {
      logger.log(`${signal}: no longer ready, serving for ${shutdownDelayMs} ms more`, 'Stop');
      await setTimeout(shutdownDelayMs);
    }
    logger.log(`${signal}: finishing the requests in flight`, 'Stop');
    const since = performance.now();
    const servers = [app.getHttpServer() as Server, app.get(ManagementServer).administration ?? []].flat();
    const [finished] = await Promise.all([
      Promise.all(servers.map((server) => stopServing(server, app.get(Connections), shutdownTimeoutMs))).then(
        (all) => all.every(Boolean),
      ),
      app.get(BackgroundLoops).stop(),
    ]);
    if (!finished) logger.warn('Some requests took too long and were aborted', 'Stop');
    const closed = await Promise.race([
      app.close().then(() => true),
      setTimeout(Math.max(shutdownTimeoutMs - (performance.now() - since), FLUSH_MS), false),
    ]);
    if (!closed) logger.warn('The last counts could not be written in time and are lost', 'Stop');
    await flushSpans();
    logger.log('Stopped', 'Stop');
    await logger.finish();
    process.exit(0);
  };
  return (signal) => {
    if (stopping) process.exit(1);
    stopping = true;
    void finish(signal);
  };
}
