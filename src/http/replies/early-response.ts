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

/** Sends a response directly from a guard, skipping the pipes, unless something declared for the handler must still run. */
@Injectable()
export class EarlyResponses {
  private config: ApplicationConfig | undefined;
  /** The last guard of a handler, if no pipe or interceptor of a module follows it. */
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

  /** Whether interceptors receive a handler's result. */
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

  /** Reads an application's global pipes and interceptors. Without this call, nothing is sent early. */
  watch(config: ApplicationConfig): void {
    this.config = config;
  }

  /** Whether this guard of a handler may send the response, because no guard, pipe or interceptor of a module follows. */
  areBypassable(guard: Type<CanActivate>, context: ExecutionContext): boolean {
    return this.eligible.of(context) === guard;
  }

  /** Whether a module's interceptor receives a handler's result. */
  isIntercepted(context: ExecutionContext): boolean {
    return this.intercepted.of(context);
  }

  /**
   * Sends the handler's result. Nest waits for a guard's promise before it continues, and this one never settles;
   * test/api/sqlite/response-cache.spec.ts would detect if the handler ran anyway.
   */
  send(context: ExecutionContext, body: unknown): Promise<never> {
    this.adapterHost.httpAdapter.reply(context.getArgByIndex(1), body);
    return new Promise(() => undefined);
  }
}
