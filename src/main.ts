import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { createApp } from './app.setup.js';
import { loadSettings } from './config/load-settings.js';
import { SettingsError } from './config/setting.js';
import { Settings } from './config/settings.js';
import { firstStartText, prepareFirstStart } from './first-start.js';
import { Readiness } from './health/readiness.js';
import { stopServing } from './http/graceful-stop.js';
import { AppLogger } from './logging/app-logger.js';
import { ManagementServer } from './metrics/management-server.js';

async function start(): Promise<void> {
  loadSettings();
  const app = await createApp();
  const { host, port, managementPort } = app.get(Settings);
  const logger = app.get(AppLogger);
  const key = await prepareFirstStart(app);
  await app.listen(port, host).catch(naming('PORT', port));
  const managementAt = await app
    .get(ManagementServer)
    .listen()
    .catch(naming('MANAGEMENT_PORT', managementPort));
  const origin = originOf(app.getHttpServer() as Server);
  if (key !== undefined) process.stdout.write(`${firstStartText(key, origin)}\n`);
  logger.log(`Listening on ${origin}, docs at ${origin}/docs`, 'Start');
  if (managementAt !== null) logger.log(`Metrics on port ${managementAt} at /metrics`, 'Start');
  stopOnSignal(app);
}

function stopOnSignal(app: INestApplication): void {
  const logger = app.get(AppLogger);
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) {
      logger.giveUp();
      process.exit(1);
    }
    stopping = true;
    logger.log(`${signal}: finishing the requests in flight`, 'Stop');
    app.get(Readiness).stop();
    const finished = await stopServing(app.getHttpServer() as Server, app.get(Settings).shutdownTimeoutMs);
    if (!finished) logger.warn('Some requests took too long and were cut', 'Stop');
    await app.close();
    logger.log('Stopped', 'Stop');
    await logger.finish();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
}

function naming(variable: string, port: number | null): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code === 'EADDRINUSE')
      throw new Error(`${variable}: port ${port} is in use; set ${variable} to a free one.`);
    throw error;
  };
}

function originOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  if (family === 'IPv6') return `http://${address === '::' ? 'localhost' : `[${address}]`}:${port}`;
  return `http://${address === '0.0.0.0' ? 'localhost' : address}:${port}`;
}

start().catch((error: unknown) => {
  if (error instanceof SettingsError) process.stderr.write(`The settings are wrong:\n${error.message}\n`);
  else
    process.stderr.write(
      `The service could not start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
  process.exit(1);
});
