import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication, Type } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { DataSource, type Repository } from 'typeorm';
import { projectSettings } from '#project-modules';
import { AppModule } from '../../src/root.module.js';
import { setupApp } from '../../src/app.setup.js';
import { Clock } from '../../src/core/time/clock.js';
import { exampleEnvironment } from '../../src/core/config/define-settings.js';
import { Settings } from '../../src/core/config/settings.js';
import { DemoData } from '../../src/database/demo-data.js';
import { type DomainEvent, DomainEvents } from '../../src/events/domain-events.js';
import { writeExactJson } from '../../src/core/exact-json.js';
import { AppLogger } from '../../src/core/logging/app-logger.js';
import { ServiceAdapter } from '../../src/http/server/service-adapter.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, API_DOCUMENT } from '../../src/docs/openapi/document-outlines.js';
import { type TestResponse, type RequestOptions, nextPageOf, send } from './test-response.js';
import { Contract, type ApiDocument } from './contract.js';
import type { Fixture } from './fixture.js';
import { type KeyOptions, issueKey } from './issued-key.js';
import { documentsOf } from './known-documents.js';
import { metricIn } from './metric-samples.js';
import { TestClock } from './test-clock.js';
import { type MadeDatabase, makeDatabase } from './test-database.js';
import type { TestServiceOptions } from './test-service-options.js';

export type { TestResponse, RequestOptions, TestServiceOptions };

/** A running service with its own database; tests call it over real HTTP. */
export class TestService {
  /**
   * Modules of every service, in addition to the modules that are passed to `open()`. A project that depends on the service sets them in a
   * setup file of its test runner.
   */
  static modules: readonly Type[] = [];

  private constructor(
    readonly app: INestApplication,
    readonly clock: TestClock,
    /** Origin such as http://127.0.0.1:40123. */
    readonly url: string,
    /** The client that the key belongs to. */
    readonly clientId: string,
    /** The API key that `request()` sends. */
    readonly key: string,
    private readonly contract: Contract,
    private readonly removeDatabase: () => Promise<void>,
  ) {}

  /** A copy of the shared documents, which a test may modify. */
  private copiedDocuments: readonly ApiDocument[] | undefined;

  /** The number of rows that were added for each fixture. */
  private readonly added = new Map<object, number>();

  /** Starts the service with one client and one key. Call `close()` at the end of the test. */
  static async open(options: TestServiceOptions = {}): Promise<TestService> {
    const database = await makeDatabase(options.database ?? 'memory');
    try {
      return await TestService.openOn(database, options);
    } catch (error) {
      await database.remove();
      throw error;
    }
  }

  private static async openOn(database: MadeDatabase, chosen: TestServiceOptions): Promise<TestService> {
    const options = { ...chosen, modules: [...TestService.modules, ...(chosen.modules ?? [])] };
    const { at = '2026-11-20T12:00:10.250Z', override = (testing) => testing } = options;
    const clock = new TestClock(at);
    const settings = new Settings({
      ...exampleEnvironment(),
      ...projectSettings(),
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      LOG_LEVEL: 'silent',
      // A test must not receive 503 because the machine is busy.
      MAX_EVENT_LOOP_LAG_MS: '0',
      DATABASE_STATEMENT_TIMEOUT_MS: '20000',
      ...options.environment,
    });
    const testing = Test.createTestingModule({ imports: [AppModule, ...options.modules] })
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(Settings)
      .useValue(settings);
    const module = await override(testing).compile();
    const logger = settings.logLevel === 'silent' ? false : module.get(AppLogger);
    const app = setupApp(module.createNestApplication(new ServiceAdapter(), { logger }));
    try {
      await options.prepare?.(app);
      await app.listen(0, '127.0.0.1');
      const { clientId, key } = await issueKey(app, options);
      const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
      return new TestService(
        app,
        clock,
        `http://127.0.0.1:${port}`,
        clientId,
        key,
        new Contract(documentsOf(app, at, options)),
        database.remove,
      );
    } catch (error) {
      // The caller has no reference to the application, whose timers would keep running.
      await app.close().catch(() => undefined);
      throw error;
    }
  }

  /** The OpenAPI documents of this service. */
  get documents(): readonly ApiDocument[] {
    // Serialized as for clients, which omits functions.
    return (this.copiedDocuments ??= JSON.parse(
      writeExactJson(this.contract.documents),
    ) as readonly ApiDocument[]);
  }

  /** The OpenAPI document of the API. `request()` checks each response against the document for its path. */
  get document(): OpenAPIObject {
    return this.documentOf(API_DOCUMENT.prefix);
  }

  /** The OpenAPI document of the administration API. */
  get adminDocument(): OpenAPIObject {
    return this.documentOf(ADMIN_DOCUMENT.prefix);
  }

  /** The OpenAPI document of self-service. */
  get accountDocument(): OpenAPIObject {
    return this.documentOf(ACCOUNT_DOCUMENT.prefix);
  }

  /** The OpenAPI document of the operations below a path, such as `/v2`. */
  documentOf(prefix: string): OpenAPIObject {
    const found = this.documents.find((one) => one.prefix === prefix);
    if (!found) throw new Error(`There is no OpenAPI document with the prefix ${prefix}.`);
    return found.document;
  }

  /**
   * Sends a request with the client's key and checks the response against the OpenAPI document. `json` is sent as the body; a string is sent
   * unchanged. Pass `key: null` to send no key.
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<TestResponse> {
    const { key = this.key } = options;
    const response = await send(this.url, method, path, { ...options, key });
    this.contract.check(method, path, response);
    return response;
  }

  /** The entries of all pages of a list. Follows the `Link` header from each page to the next. */
  async everyPage(path: string, options: RequestOptions = {}): Promise<TestResponse['body'][]> {
    const entries: TestResponse['body'][] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const { status, headers, text, body } = await this.request('GET', next, options);
      if (status !== 200) throw new Error(`GET ${next} → ${status} ${text}`);
      entries.push(...body);
      next = nextPageOf(headers);
    }
    return entries;
  }

  /** Adds the demo data of all features, as `petstore db seed` does. Returns the number of rows. */
  seed(count?: number): Promise<number> {
    return this.app.get(DemoData).add(count);
  }

  /** The repository of an entity, for direct access to the database. */
  repository<Entity extends object>(entity: Type<Entity>): Repository<Entity> {
    return this.app.get(DataSource).getRepository(entity);
  }

  /** Inserts a row directly into the database, with the given values and the defaults of its fixture, and returns the stored row. */
  async add<Entity extends object>(fixture: Fixture<Entity>, values: Partial<Entity> = {}): Promise<Entity> {
    const number = (this.added.get(fixture) ?? 0) + 1;
    this.added.set(fixture, number);
    const repository = this.repository(fixture.entity);
    const row = Object.assign(repository.create(), fixture.valuesOf(number), values);
    return repository.save(row);
  }

  /** Collects the data of an event each time it is published from now on, in order. */
  collect<Data extends object>(event: DomainEvent<Data>): readonly Data[] {
    const collected: Data[] = [];
    this.app.get(EventEmitter2).on(event.name, (data: Data) => collected.push(data));
    return collected;
  }

  /** Waits until all listeners have handled the events published so far. Durable events have then been delivered to each listener once. */
  settled(): Promise<void> {
    return this.app.get(DomainEvents).settled();
  }

  /**
   * The value of a metric: the sum of all samples that have at least these labels. For a histogram, append `_count` or `_sum` to the name.
   * Returns 0 if nothing has been counted yet.
   */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return metricIn((await this.app.get(Metrics).exposition()).text, name, labels);
  }

  /** Issues another key for the same client, or for a new client if a plan is given. */
  issueKey(
    options: Pick<KeyOptions, 'plan' | 'scopes' | 'expires'> = {},
  ): Promise<{ id: string; clientId: string; key: string }> {
    return issueKey(
      this.app,
      options.plan === undefined ? { ...options, clientId: this.clientId } : { name: 'Other', ...options },
    );
  }

  /** Stops the service. */
  async close(): Promise<void> {
    (this.app.getHttpServer() as Server).closeAllConnections();
    await this.app.close();
    await this.removeDatabase();
  }
}
