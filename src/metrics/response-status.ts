import type { Response } from 'express';

/** Nginx's status for a client that was gone before it was answered; never sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** The status that a request ended with, for logs and metrics: the one that was sent, or 499 when none was. */
export function responseStatusOf({ headersSent, statusCode }: Response): number {
  return headersSent ? statusCode : CLIENT_CLOSED_REQUEST;
}
