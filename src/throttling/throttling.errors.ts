import { defineErrors } from '../core/errors/define-errors.js';

export const THROTTLING_ERRORS = defineErrors({
  rate_limit_exceeded: {
    status: 429,
    message: 'The limit of {requests} per {window} is used up; retry in {seconds} s.',
    example: { requests: '60 requests', window: 'minute', seconds: 31 },
    cause:
      'The client, or an address without a valid key, has used all requests of this window; or an ' +
      'operation without a quota was called more often than its separate limit allows, which the message then names.',
    remedy: 'Wait the seconds in `Retry-After`, back off exponentially, or move to a larger plan.',
    command: 'Wait that long, or use the key of a client with a larger plan.',
  },
  api_key_banned: {
    status: 429,
    message:
      'The API key is banned until {until}, because it kept sending requests after 429; retry in {seconds} s.',
    example: { until: '2026-11-20T12:05:00.000Z', seconds: 290 },
    cause:
      'The key kept sending for 20 seconds or more during an earlier `Retry-After`: each second with a refused request is a strike, and 20 strikes are a ban. Bans last 5 minutes, then 15, 60, and 24 hours.',
    remedy:
      'Wait for `Retry-After` before every retry; an operator can lift the ban with `petstore key unban`.',
    command: 'Use another key of the client, or wait.',
  },
  daily_quota_exceeded: {
    status: 429,
    message: 'The quota of {requests} per day is used up; it resets in {seconds} s.',
    example: { requests: '1000 requests', seconds: 40_210 },
    cause: 'The client has used all requests of its plan for this UTC day.',
    remedy: 'Wait the seconds in `Retry-After`, or move to a larger plan.',
    command: 'Use the key of a client with a larger plan.',
  },
});
