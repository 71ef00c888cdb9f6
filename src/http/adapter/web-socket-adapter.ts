import type { INestApplication, WebSocketAdapter } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';

/**
 * Token of what makes Nest's WebSocket adapter, so that the module of a gateway brings it along:
 * `{ provide: WEB_SOCKET_ADAPTER, useValue: (app) => new WsAdapter(app) }`. Without it, Nest looks for its own default.
 */
export const WEB_SOCKET_ADAPTER = Symbol('WebSocket adapter');

/** Makes the adapter of an application, which does not listen yet. */
export type WebSocketAdapterFactory = (app: INestApplication) => WebSocketAdapter;

/** Has an application use the adapter that its modules provide, if one does. Throws when several differ. */
export function useProvidedWebSocketAdapter(app: INestApplication, discovery: DiscoveryService): void {
  const provided = discovery.getProviders().filter(({ token }) => token === WEB_SOCKET_ADAPTER);
  const factories = new Set(provided.map(({ instance }) => instance as WebSocketAdapterFactory));
  if (factories.size > 1) {
    const modules = provided.map(({ host }) => host?.name ?? 'a module').join(', ');
    throw new Error(`WEB_SOCKET_ADAPTER is provided more than once, by ${modules}; an application has one.`);
  }
  for (const make of factories) app.useWebSocketAdapter(make(app));
}
