import { defineErrors } from '../errors/define-errors.js';

export const THROTTLING_ERRORS = defineErrors({
  rate_limit_exceeded: {
    status: 429,
    message: 'The limit of {limit} requests per {window} is used up; retry in {seconds} seconds.',
    cause:
      'The client has used the requests that its plan allows in this window, or an address without a valid key has.',
    remedy: 'Wait the seconds in `Retry-After`, back off exponentially, or move to a larger plan.',
  },
  api_key_banned: {
    status: 429,
    message:
      'The API key is banned until {until}, because it kept sending requests after 429; retry in {seconds} seconds.',
    cause:
      'The key went on for 20 seconds or more while an earlier `Retry-After` still ran: each second with a refused request is a strike, and 20 strikes are a ban. Bans last 5 minutes, then 15, 60, and 24 hours.',
    remedy:
      'Wait the seconds in `Retry-After` before every retry; an operator can lift the ban with `petstore key unban`.',
  },
  daily_quota_exceeded: {
    status: 429,
    message: 'The quota of {limit} requests per day is used up; it is full again in {seconds} seconds.',
    cause: 'The client has used the requests that its plan allows in a UTC day.',
    remedy: 'Wait the seconds in `Retry-After`, or move to a larger plan.',
  },
});
