import type { RequestHandler } from 'express';
import type { DirectOperation } from './direct-operation.js';
import { PathTemplate } from './path-template.js';

/** What Express keeps of everything that it passes requests to, in its order. */
export interface Layer {
  readonly handle: RequestHandler;
  /** The path that it was given, in whatever form. */
  readonly rawPath: unknown;
  /** Whether it is a middleware of every path. */
  readonly slash: boolean;
  readonly route?: {
    readonly path: unknown;
    readonly methods: Readonly<Record<string, boolean>>;
    readonly stack: readonly { readonly handle: { readonly name: string } }[];
  };
}

/** A route that is run directly. */
export interface DirectRoute {
  readonly template: PathTemplate;
  readonly operation: DirectOperation;
  /** Express's own record of it, which requests carry as `route`. */
  readonly ofExpress: Layer['route'];
}

/** A route that was found for a path. */
export interface FoundRoute {
  readonly route: DirectRoute;
  readonly parameters: Record<string, string>;
}

/** Finds the route of a request by its method and path, as Express would. */
export class DirectRoutes {
  private readonly literal = new Map<string, DirectRoute>();
  private readonly parametric = new Map<string, DirectRoute[]>();

  add(method: string, route: DirectRoute): void {
    if (route.template.hasParameters) {
      this.parametric.set(method, [...(this.parametric.get(method) ?? []), route]);
    } else {
      this.literal.set(`${method} ${route.template.path}`, route);
    }
  }

  /** `path` without the query and without percent-encoding. */
  find(method: string, path: string): FoundRoute | undefined {
    const literal = this.literal.get(`${method} ${path}`);
    if (literal) return { route: literal, parameters: {} };
    for (const route of this.parametric.get(method) ?? []) {
      const parameters = route.template.match(path);
      if (parameters) return { route, parameters };
    }
    return undefined;
  }
}

/** Whether Express passes any request of this method and template to the layer first. */
export function standsBefore(layer: Layer, method: string, template: PathTemplate | undefined): boolean {
  if (layer.route && !layer.route.methods[method.toLowerCase()] && !layer.route.methods['_all']) return false;
  // For errors alone.
  if (!layer.route && layer.handle.length > 3) return false;
  if (layer.slash) return true;
  const other = PathTemplate.of(layer.rawPath);
  if (!other || !template) return true;
  return layer.route ? template.overlaps(other) : template.mayBeginWith(other);
}
