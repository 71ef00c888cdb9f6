import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { askForBody, tooLarge, unsupported, type BodyRule } from './read-body.js';

/**
 * Leaves the body of a request to whoever reads the request as a stream, and limits it: beyond `limitBytes` the stream fails
 * with payload_too_large. Asks a client that waits for it to go on. Throws unsupported_media_type for a content coding, and
 * payload_too_large for a body that is announced to be longer.
 */
export function limitBody(request: Request, response: Response, { types, limitBytes }: BodyRule): void {
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity') throw unsupported(request, types, []);
  askForBody(request, response, limitBytes);
  // What has arrived already waits in the stream.
  let received = request.readableLength;
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    received += chunk?.length ?? 0;
    if (received <= limitBytes) return push(chunk, encoding);
    failBody(request, tooLarge(limitBytes));
    return false;
  };
  if (received > limitBytes) throw tooLarge(limitBytes);
}

/** Ends the stream of a body with an error, and keeps its connection, which has to carry the refusal. */
export function failBody(request: IncomingMessage, refusal: Error): void {
  request._destroy = (error, done) => done(error);
  // A handler that does not read the stream has no listener, and an `error` event without one would end the process.
  request.on('error', () => undefined);
  request.destroy(refusal);
}
