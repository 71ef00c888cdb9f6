import type { Request } from 'express';

/** The template of the matched route, such as `/v1/pets/:petId`: bounded, unlike paths. */
export function routeTemplateOf(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : 'unmatched';
}
