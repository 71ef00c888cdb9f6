import { defineErrors } from '../errors/define-errors.js';

export const THROTTLING_ERRORS = defineErrors({
  rate_limit_exceeded: {
    status: 429,
    message: 'The limit of {limit} requests per {window} is used up; retry in {seconds} seconds.',
    cause:
      'The client has used the requests that its plan allows in this window, or an address without a valid key has.',
    remedy: 'Wait the seconds in `Retry-After`, back off exponentially, or move to a larger plan.',
  },
  daily_quota_exceeded: {
    status: 429,
    message: 'The quota of {limit} requests per day is used up; it is full again in {seconds} seconds.',
    cause: 'The client has used the requests that its plan allows in a UTC day.',
    remedy: 'Wait the seconds in `Retry-After`, or move to a larger plan.',
  },
});
