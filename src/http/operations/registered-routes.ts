import type { Application, RequestHandler } from 'express';

/** A registered route. */
export interface RegisteredRoute {
  /** Such as GET; `ALL` for all methods. */
  readonly method: string;
  readonly path: string;
  /** The registered function. Nest's functions have the metadata of the controller's method. */
  readonly handler: RequestHandler;
  /** Whether a path matches the route, as in Express. Throws URIError if it cannot be decoded. */
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

/** The routes of an Express application, in order of registration. */
export function routesOf(application: Application): RegisteredRoute[] {
  const layers = application.router.stack as unknown as readonly Layer[];
  return layers.flatMap((layer) => {
    const { route } = layer;
    if (route === undefined || typeof route.path !== 'string') return [];
    const { path } = route;
    const isAt = (target: string): boolean => Boolean(layer.match(target));
    return route.stack.map(({ method, handle }) => ({
      method: (method ?? 'all').toUpperCase(),
      path,
      handler: handle,
      isAt,
    }));
  });
}

const VERSION = /^\/v(\d[\w.-]*)(?:\/|$)/;

/** The version prefix of a path, such as the 2 of `/v2/pets`; undefined if there is none. */
export function versionOf(path: string): string | undefined {
  return VERSION.exec(path)?.[1];
}
