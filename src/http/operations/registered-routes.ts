import type { Application, RequestHandler } from 'express';

/** A route as it was registered. */
export interface RegisteredRoute {
  /** Such as GET; `ALL` for a route of every method. */
  readonly method: string;
  readonly path: string;
  /** The function that was registered; one of Nest's has the metadata of the controller's method. */
  readonly handler: RequestHandler;
  /** Whether a path matches the route, as in Express; throws URIError if it cannot be decoded. */
  readonly isAt: (path: string) => boolean;
}

/** A route in Express's router. */
interface Layer {
  match(path: string): unknown;
  readonly route?: {
    readonly path: unknown;
    readonly stack: readonly { readonly method?: string; readonly handle: RequestHandler }[];
  };
}

/** The routes of an Express application, in the order of their registration. */
export function routesOf(application: Application): RegisteredRoute[] {
  const layers = application.router.stack as unknown as readonly Layer[];
  return layers.flatMap((layer) => {
    const { route } = layer;
    if (route === undefined || typeof route.path !== 'string') return [];
    const { path } = route;
    const isAt = (asked: string): boolean => Boolean(layer.match(asked));
    return route.stack.map(({ method, handle }) => ({
      method: (method ?? 'all').toUpperCase(),
      path,
      handler: handle,
      isAt,
    }));
  });
}

const VERSION = /^\/v(\d[\w.-]*)(?:\/|$)/;

/** The version at the beginning of a path, such as the 2 of `/v2/pets`, as Nest puts it there; undefined without one. */
export function versionOf(path: string): string | undefined {
  return VERSION.exec(path)?.[1];
}
