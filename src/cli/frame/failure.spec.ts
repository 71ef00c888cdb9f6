import { expect, it } from 'vitest';
import { AUTH_ERRORS } from '../../auth/auth.errors.js';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { THROTTLING_ERRORS } from '../../throttling/throttling.errors.js';
import { eventErrors } from '../../webhooks/endpoints/endpoint-rules.js';
import { WEBHOOK_ERRORS } from '../../webhooks/endpoints/webhook-endpoints.errors.js';
import { reasonOf } from './failure.js';

const ROWS = [HTTP_ERRORS, AUTH_ERRORS, CLIENTS_ERRORS, THROTTLING_ERRORS, WEBHOOK_ERRORS].flatMap((rows) =>
  Object.values(rows),
);
const HTTP =
  /`(?:GET|POST|PUT|PATCH|DELETE) |over HTTP|\bheader\b|Retry-After|X-Request-Id|`\w+`: |`(?:scopes|events|grace)`/;

it.each(ROWS)('what a command says of $code names no HTTP request', ({ message, ...row }) => {
  const params = row.example ?? {};
  const reason = reasonOf(new ApiError({ message, ...row }, { params }));
  const remedy = reason.split('\n').slice(1).join('\n');
  expect(remedy).not.toMatch(HTTP);
});

it('an unknown event is refused with a list of the events, on the command line too', () => {
  const [error] = eventErrors(['pet.created']);
  expect(error?.message).toMatch(/^There is no such event\. The events are .*webhook_endpoint\.disabled/);
});
