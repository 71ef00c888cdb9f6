import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication, Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { SERVICE_ITSELF } from '../../src/accounts/audited-changes.js';
import { ClientsService } from '../../src/accounts/clients.service.js';
import { KeyIssuingService } from '../../src/accounts/key-issuing.service.js';
import { AppModule } from '../../src/app.module.js';
import { setupApp } from '../../src/app.setup.js';
import { Clock } from '../../src/clock.js';
import { readSettings } from '../../src/config/setting.js';
import { Settings } from '../../src/config/settings.js';
import { AppLogger } from '../../src/logging/app-logger.js';
import { ServiceAdapter } from '../../src/http/adapter/service-adapter.js';
import { ADMIN_DOCUMENT, API_DOCUMENT, outlinesOf } from '../../src/openapi/document-outlines.js';
import { buildDocument } from '../../src/openapi/document.js';
import type { Plan, PlanLimits } from '../../src/throttling/plans.js';
import { type Answer, Contract, type DocumentBelow } from './contract.js';
import { TestClock } from './test-clock.js';

export type { Answer };

/** How a test wants the service; every option has a default. */
export interface TestServiceOptions {
  /** Plan of the client whose key `request()` sends; business by default. */
  readonly plan?: Plan;
  /** Limits of an enterprise client. */
  readonly limits?: PlanLimits;
  /** Scopes of the key that `request()` sends; by default those that every new key gets. */
  readonly scopes?: string[];
  /** The time that the clock shows, as ISO 8601 text. */
  readonly at?: string;
  /** Environment variables; they replace those that the kit sets. `LOG_LEVEL: 'error'` shows why a request is answered 500. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Modules to add to the service, as a team adds its own. */
  readonly modules?: readonly Type[];
  /** Changes the application before it is started, as app.setup.ts may: `(app) => app.use(helmet())`. */
  readonly prepare?: (app: INestApplication) => unknown;
}

/** A running service with its own database; tests call it over real HTTP. */
export class TestService {
  private constructor(
    readonly app: INestApplication,
    readonly clock: TestClock,
    /** Origin such as http://127.0.0.1:40123. */
    readonly url: string,
    /** The client that the key belongs to. */
    readonly clientId: string,
    /** The API key that `request()` sends. */
    readonly key: string,
    /** The OpenAPI documents of this service, each with the path that its operations are below. */
    readonly documents: readonly DocumentBelow[],
    private readonly contract: Contract,
  ) {}

  /** Starts the service with one client and one key. Call `close()` at the end of the test. */
  static async open(options: TestServiceOptions = {}): Promise<TestService> {
    const clock = new TestClock(options.at ?? '2026-11-20T12:00:10.250Z');
    const settings = readSettings(Settings, {
      NODE_ENV: 'test',
      DATABASE_URL: 'sqlite::memory:',
      LOG_LEVEL: 'silent',
      ...options.environment,
    });
    const module = await Test.createTestingModule({ imports: [AppModule, ...(options.modules ?? [])] })
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(Settings)
      .useValue(settings)
      .compile();
    const logger = settings.logLevel === 'silent' ? false : module.get(AppLogger);
    const app = setupApp(module.createNestApplication(new ServiceAdapter(), { logger }));
    await options.prepare?.(app);
    await app.listen(0, '127.0.0.1');
    const { plan = 'business', limits = {}, scopes } = options;
    const client = await app.get(ClientsService).create({ name: 'Test', plan, ...limits }, SERVICE_ITSELF);
    const { secret } = await app
      .get(KeyIssuingService)
      .issue({ clientId: client.id, ...(scopes ? { scopes } : {}) }, SERVICE_ITSELF);
    const documents = outlinesOf(app).map((outline) => ({
      prefix: outline.prefix,
      document: buildDocument(app, outline),
    }));
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    return new TestService(
      app,
      clock,
      `http://127.0.0.1:${port}`,
      client.id,
      secret,
      documents,
      new Contract(documents),
    );
  }

  /** The OpenAPI document of this service. `request()` checks each answer against that of its path. */
  get document(): OpenAPIObject {
    return this.documentOf(API_DOCUMENT.prefix);
  }

  /** The OpenAPI document of the administration. */
  get adminDocument(): OpenAPIObject {
    return this.documentOf(ADMIN_DOCUMENT.prefix);
  }

  /** The OpenAPI document of the operations below a path, such as `/v2`. */
  documentOf(prefix: string): OpenAPIObject {
    const found = this.documents.find((one) => one.prefix === prefix);
    if (!found) throw new Error(`There is no document of ${prefix}.`);
    return found.document;
  }

  /**
   * Sends a request with the client's key and checks the answer against the OpenAPI document. `json` is sent as the body; if it
   * is a string, as it is. Pass `key: null` to send no key.
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { key = this.key, json, headers = {}, body } = options;
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: typeof json === 'string' ? json : JSON.stringify(json) }),
      ...(body === undefined ? {} : { body, duplex: 'half' as const }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, body: parsed(text) as never };
    this.contract.check(method, path, answer);
    return answer;
  }

  /** Issues another key for the same client, or for a new client if a plan is given. */
  async issueKey(
    options: { plan?: Plan; scopes?: string[]; expires?: number } = {},
  ): Promise<{ id: string; key: string }> {
    const { plan, ...ofKey } = options;
    const clientId =
      plan === undefined
        ? this.clientId
        : (await this.app.get(ClientsService).create({ name: 'Other', plan }, SERVICE_ITSELF)).id;
    const { apiKey, secret } = await this.app
      .get(KeyIssuingService)
      .issue({ clientId, ...ofKey }, SERVICE_ITSELF);
    return { id: apiKey.id, key: secret };
  }

  /** Stops the service. */
  async close(): Promise<void> {
    (this.app.getHttpServer() as Server).closeAllConnections();
    await this.app.close();
  }
}

/** Options of one request. */
export interface RequestOptions {
  readonly key?: string | null;
  readonly json?: unknown;
  /** A body as fetch takes it, such as FormData, instead of JSON. */
  readonly body?: NonNullable<RequestInit['body']>;
  readonly headers?: Readonly<Record<string, string>>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
