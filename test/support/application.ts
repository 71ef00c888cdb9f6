import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AbstractHttpAdapter } from '@nestjs/core';
import type { INestApplication, NestApplicationOptions, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { onTestFinished } from 'vitest';
import { AppModule, setupApp } from '../../src/app.setup.js';
import { exampleEnvironment } from '../../src/core/config/define-settings.js';
import { Settings } from '../../src/core/config/settings.js';
import { ServiceAdapter } from '../../src/http/server/service-adapter.js';
import { TestService } from '../kit/test-service.js';

/** Creates an application as a test needs it. A team can create its own in the same way. */
export interface ApplicationOptions {
  readonly modules?: readonly Type[];
  readonly adapter?: AbstractHttpAdapter;
  readonly environment?: Readonly<Record<string, string>>;
  /** Nest's application options. */
  readonly nest?: NestApplicationOptions;
  /** Configures the application before it starts. */
  readonly prepare?: (app: INestApplication) => unknown;
}

/** The service with other Nest options, listening until the test ends. It has no client and no key. */
export async function application(
  options: ApplicationOptions,
): Promise<{ app: INestApplication; url: string }> {
  const { modules = [], adapter = new ServiceAdapter(), environment = {}, nest = {}, prepare } = options;
  const settings = {
    ...exampleEnvironment(),
    NODE_ENV: 'test',
    DATABASE_URL: 'sqlite::memory:',
    LOG_LEVEL: 'silent',
    ...environment,
  };
  const module = await Test.createTestingModule({ imports: [AppModule, ...TestService.modules, ...modules] })
    .overrideProvider(Settings)
    .useValue(new Settings(settings))
    .compile();
  const app = setupApp(module.createNestApplication(adapter, { logger: false, ...nest }));
  onTestFinished(async () => {
    (app.getHttpServer() as Server).closeAllConnections();
    await app.close();
  });
  await prepare?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}` };
}
