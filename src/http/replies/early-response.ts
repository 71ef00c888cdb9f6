import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import {
  GUARDS_METADATA,
  HEADERS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
} from '@nestjs/common/constants.js';
import { type ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { HandlerMetadata } from '../../core/execution-context.js';
import { methodNameOf, parametersOf } from '../operations/handler-parameters.js';
import { ValidationPipe } from '../validation/validation.pipe.js';

/** Sends a response from a guard of its handler, past the pipes, unless anything is declared around, before or for its response. */
@Injectable()
export class EarlyResponses {
  private config: ApplicationConfig | undefined;
  /** The last guard of a handler that no pipe or interceptor of a module follows. */
  private readonly eligible = new HandlerMetadata(([handler, controller]) => {
    const { config } = this;
    if (!config) return undefined;
    // Nest sets the headers of @Header() after the guards.
    const declared = [INTERCEPTORS_METADATA, PIPES_METADATA, HEADERS_METADATA].flatMap((key) =>
      [handler, controller].map(
        (target) => Reflect.getMetadata(key, target) as readonly unknown[] | undefined,
      ),
    );
    const parameters = parametersOf(controller as Type, methodNameOf(handler, controller as Type) ?? '');
    const isAlone = [
      config.getGlobalInterceptors(),
      config.getGlobalRequestInterceptors(),
      config.getGlobalPipes().filter((pipe) => !(pipe instanceof ValidationPipe)),
      config.getGlobalRequestPipes(),
      ...declared,
      ...parameters.map(({ pipes }) => pipes),
    ].every((parts = []) => parts.length === 0);
    const guards = Reflect.getMetadata(GUARDS_METADATA, handler) as readonly unknown[];
    return isAlone ? guards.at(-1) : undefined;
  });

  /** Whether interceptors get the result of a handler. */
  private readonly intercepted = new HandlerMetadata(([handler, controller]) =>
    [
      this.config?.getGlobalInterceptors(),
      this.config?.getGlobalRequestInterceptors(),
      ...[handler, controller].map(
        (target) => Reflect.getMetadata(INTERCEPTORS_METADATA, target) as readonly unknown[] | undefined,
      ),
    ].some((interceptors = []) => interceptors.length > 0),
  );

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /** Reads the global pipes and interceptors of an application; without this call nothing is sent early. */
  watch(config: ApplicationConfig): void {
    this.config = config;
  }

  /** Whether this guard of a handler may send its response: no guard, pipe or interceptor of a module follows. */
  areBypassable(guard: Type<CanActivate>, context: ExecutionContext): boolean {
    return this.eligible.of(context) === guard;
  }

  /** Whether an interceptor of a module gets the result of a handler. */
  isIntercepted(context: ExecutionContext): boolean {
    return this.intercepted.of(context);
  }

  /**
   * Sends the handler's result. Nest waits for the promise of a guard before it continues with the request, and this one is never settled:
   * test/api/sqlite/response-cache.spec.ts notices when the handler runs nevertheless.
   */
  send(context: ExecutionContext, body: unknown): Promise<never> {
    this.adapterHost.httpAdapter.reply(context.getArgByIndex(1), body);
    return new Promise(() => undefined);
  }
}
