import { IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { Application } from 'express';

/** The prototypes that an Express application gives to every request and response. */
export interface ExpressPrototypes {
  request: object;
  response: object;
}

/**
 * Lets a server make its requests and responses with the prototypes that Express gives them otherwise, one by one: an
 * object whose prototype was changed is slow ever after, some 30 µs for each request. Node takes the classes as options of
 * `createServer()`, which Nest calls without; they are put where that keeps them. Should a later Node keep them elsewhere,
 * nothing is changed, and Express does as ever.
 */
export function makeExpressMessages(server: Server, express: Application & ExpressPrototypes): void {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  const kept = server as unknown as Record<symbol, unknown>;
  const places = Object.getOwnPropertySymbols(server);
  const ofRequest = places.find((place) => kept[place] === IncomingMessage);
  const ofResponse = places.find((place) => kept[place] === ServerResponse);
  if (!ofRequest || !ofResponse) return;
  express.request = Object.setPrototypeOf(ExpressRequest.prototype, express.request) as object;
  express.response = Object.setPrototypeOf(ExpressResponse.prototype, express.response) as object;
  kept[ofRequest] = ExpressRequest;
  kept[ofResponse] = ExpressResponse;
}
