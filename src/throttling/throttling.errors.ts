import { defineErrors } from '../core/errors/define-errors.js';

export const THROTTLING_ERRORS = defineErrors({
  rate_limit_exceeded: {
    status: 429,
    message: 'Rate limit of {requests} per {window} exceeded; retry in {seconds} s.',
    example: { requests: '60 requests', window: 'minute', seconds: 31 },
    cause:
      'The client, or an address without a valid key, has used all requests of the current window. Operations ' +
      'without a quota have a separate limit, which the message names.',
    remedy: 'Wait for the number of seconds in `Retry-After`, send fewer requests, or move to a larger plan.',
    command: 'Wait, or use a key of a client with a larger plan.',
  },
  api_key_banned: {
    status: 429,
    message:
      'The API key is banned until {until} because it kept sending requests after 429; retry in {seconds} s.',
    example: { until: '2026-11-20T12:05:00.000Z', seconds: 290 },
    cause:
      'The key kept sending requests during an earlier `Retry-After`. Each second with a refused request is a strike, and 20 strikes lead to a ban. Bans last 5 minutes, then 15 minutes, 60 minutes, and 24 hours.',
    remedy:
      'Wait for `Retry-After` before every retry. An operator can lift the ban with `petstore key unban`.',
    command: 'Wait, or use another key of the client.',
  },
  daily_quota_exceeded: {
    status: 429,
    message: 'Daily quota of {requests} exceeded; it resets in {seconds} s.',
    example: { requests: '1000 requests', seconds: 40_210 },
    cause: 'The client has used all requests that its plan allows in a UTC day.',
    remedy: 'Wait for the number of seconds in `Retry-After`, or move to a larger plan.',
    command: 'Use a key of a client with a larger plan.',
  },
});
