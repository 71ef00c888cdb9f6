import type { RequestListener } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import { DiscoveryService, type ApplicationConfig } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, Request, Response } from 'express';
import type { ExpressPrototypes } from '../adapter/service-adapter.js';
import { dress, runMiddlewares } from './as-express.js';
import { directChainOf } from './direct-chain.js';
import { DirectOperation } from './direct-operation.js';
import { DirectRoutes, standsBefore, type FoundRoute, type Layer } from './direct-routes.js';
import { PathTemplate } from './path-template.js';
import { plainOperationOf } from './plain-operation.js';

/** Targets that Express reads as they stand; it decodes and normalizes others. */
const PLAIN_TARGET = /^(\/[\w./~-]*)(?:\?[!"$-~]*)?$/;

/**
 * Takes the requests for plain operations in front of Express and runs their chain directly, which costs a fraction of
 * Express's router and Nest's rxjs. It runs the very guards, interceptors, pipes and handlers that Nest would, and leaves to
 * Nest every operation that asks for more; docs/decisions/0011 tells which. test/direct-operations.spec.ts holds both against
 * each other.
 */
@Injectable()
export class DirectRouter {
  private readonly logger = new Logger('Direct');
  private routes = new DirectRoutes();
  /** Layers that Express had when the routes were read. */
  private seen = 0;

  constructor(private readonly discovery: DiscoveryService) {}

  /** Call it when the platform's middlewares are in place; what comes later are strangers, which Nest is left to pass. */
  standInFrontOf(app: NestExpressApplication): void {
    const server = app.getHttpServer();
    const express = app.getHttpAdapter().getInstance() as Application & ExpressPrototypes;
    const [toExpress] = server.listeners('request') as RequestListener[];
    if (!toExpress) throw new Error('There is nobody to stand in front of.');
    const layersOf = () => (express.router as unknown as { stack: Layer[] }).stack;
    const platform = new Set(layersOf().filter(isMiddleware));
    const middlewares = [...platform].map(({ handle }) => handle);
    server.removeListener('request', toExpress);
    server.on('request', (incoming, outgoing) => {
      const layers = layersOf();
      if (layers.length !== this.seen) this.readOrLeave(app, layers, platform);
      const found = this.routeOf(incoming as Request);
      if (!found) {
        toExpress(incoming, outgoing);
        return;
      }
      const [request, response] = [incoming as Request, outgoing as Response];
      dress(express, request, response, found);
      runMiddlewares(middlewares, request, response, () => void found.route.operation.run(request, response));
    });
  }

  private routeOf({ method, url }: Request): FoundRoute | undefined {
    const path = PLAIN_TARGET.exec(url)?.[1];
    return path === undefined ? undefined : this.routes.find(method, path);
  }

  /** What cannot be read is left to Nest: its insides may be others one day. */
  private readOrLeave(
    app: NestExpressApplication,
    layers: readonly Layer[],
    platform: ReadonlySet<Layer>,
  ): void {
    try {
      this.read(app, layers, platform);
    } catch (error) {
      this.routes = new DirectRoutes();
      this.logger.warn(`Every operation is run by Nest: its routes cannot be read (${String(error)}).`);
    }
  }

  /** Reads again which routes there are, after any were added. */
  private read(app: NestExpressApplication, layers: readonly Layer[], platform: ReadonlySet<Layer>): void {
    this.seen = layers.length;
    this.routes = new DirectRoutes();
    // Nest gives it to nobody; @nestjs/swagger reads it here as well.
    const { config } = app as unknown as { config: ApplicationConfig };
    const chain = directChainOf(config);
    if (typeof chain === 'string') {
      this.logger.debug(`Every operation is run by Nest: ${chain}.`);
      return;
    }
    const strangers = layers.filter((layer) => !platform.has(layer));
    for (const [index, { route }] of strangers.entries()) {
      const named = route && this.controllerOf(route);
      if (!named) continue;
      const [method = '', ...others] = Object.keys(route.methods).map((name) => name.toUpperCase());
      const template = PathTemplate.of(route.path);
      const isFirst = !strangers.slice(0, index).some((layer) => standsBefore(layer, method, template));
      const operation = plainOperationOf(...named);
      if (typeof operation === 'object' && template && isFirst && others.length === 0) {
        const direct = new DirectOperation(operation, chain, app.getHttpAdapter());
        this.routes.add(method, { template, operation: direct, ofExpress: route });
      } else {
        const reason = typeof operation === 'string' ? operation : 'something else comes before it';
        this.logger.debug(`${method} ${String(route.path)} is run by Nest: ${reason}.`);
      }
    }
  }

  /** The controller of a route and the name of its method: Nest names the handler after both. */
  private controllerOf({
    stack,
  }: NonNullable<Layer['route']>): [InstanceWrapper<object>, string] | undefined {
    const [controllerName, method, ...more] = stack.flatMap(({ handle }) => handle.name.split('.'));
    const [controller, ...others] = this.discovery
      .getControllers()
      .filter((wrapper) => wrapper.name === controllerName);
    return controller && method !== undefined && others.length + more.length === 0
      ? [controller, method]
      : undefined;
  }
}

/** Whether every request passes it; one with four parameters is for errors alone. */
function isMiddleware({ slash, route, handle }: Layer): boolean {
  return slash && !route && handle.length < 4;
}
