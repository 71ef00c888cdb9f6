// Authentication and quotas of peers/fastify-equal.mjs: API keys are looked up by their SHA-256 and cached for five seconds. Requests are
// counted per minute and per day, in memory, and reported in headers.
import { createHash } from 'node:crypto';
import { refusal } from './equal-errors.mjs';
import { keyWithDigest, whenRead } from './equal-store.mjs';

const REMEMBERED_MS = 5_000;
const MOST_KEYS = 10_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PLANS = { free: [60, 1_000], pro: [300, 10_000], business: [1_000, 100_000] };
const MISSING = { 'www-authenticate': 'Bearer realm="petstore"' };
const INVALID = { 'www-authenticate': 'Bearer realm="petstore", error="invalid_token"' };

const keys = new Map();
const counts = new Map();

/** The caller with the key in an `Authorization` header; undefined if the key is not valid. */
function callerOf(authorization) {
  const [, key] = /^Bearer (\S+)$/i.exec(authorization) ?? [];
  if (key === undefined) return undefined;
  const digest = createHash('sha256').update(key).digest('hex');
  const now = Date.now();
  const known = keys.get(digest);
  if (known !== undefined && known.until > now) return unexpired(known.caller);
  return whenRead(keyWithDigest(digest), (row) => {
    if (row === undefined) return undefined;
    const caller = callerOfRow(row);
    keys.delete(digest);
    keys.set(digest, { caller, until: now + REMEMBERED_MS });
    if (keys.size > MOST_KEYS) keys.delete(keys.keys().next().value);
    return unexpired(caller);
  });
}

function unexpired(caller) {
  return caller.expiresAt > Date.now() ? caller : undefined;
}

function callerOfRow({ clientId, plan, perMinute, perDay, scopes, expiresAt }) {
  const [minute, day] = PLANS[plan] ?? [perMinute, perDay];
  return {
    clientId,
    quota: quotaOf(clientId, minute, day),
    scopes: new Set(JSON.parse(scopes)),
    expiresAt: expiresAt === null ? Infinity : Date.parse(expiresAt),
  };
}

function quotaOf(subject, perMinute, perDay) {
  const policy = `"minute";q=${perMinute};w=60` + (perDay === undefined ? '' : `, "day";q=${perDay};w=86400`);
  return { subject, perMinute, perDay: perDay ?? Infinity, policy };
}

/** Counts a request unless a window is full. Sets the headers, and returns the refusal if a window is full. */
function count({ subject, perMinute, perDay, policy }, reply) {
  const now = Date.now();
  let used = counts.get(subject);
  if (used === undefined) counts.set(subject, (used = { minute: 0, day: 0, minuteEnds: 0, dayEnds: 0 }));
  if (now >= used.minuteEnds) {
    used.minute = 0;
    used.minuteEnds = now - (now % MINUTE_MS) + MINUTE_MS;
  }
  if (now >= used.dayEnds) {
    used.day = 0;
    used.dayEnds = now - (now % DAY_MS) + DAY_MS;
  }
  const isAdmitted = used.minute < perMinute && used.day < perDay;
  if (isAdmitted) {
    used.minute += 1;
    used.day += 1;
  }
  const left = { minute: perMinute - used.minute, day: perDay - used.day };
  // Reports the window with the fewest remaining requests; if both are equal, the day, which ends later.
  const isDay = left.day <= left.minute;
  const ends = isDay ? used.dayEnds : used.minuteEnds;
  const minuteState = `"minute";r=${left.minute};t=${secondsUntil(used.minuteEnds, now)}`;
  reply.header('x-ratelimit-limit', isDay ? perDay : perMinute);
  reply.header('x-ratelimit-remaining', isDay ? left.day : left.minute);
  reply.header('x-ratelimit-reset', ends / 1_000);
  reply.header('ratelimit-policy', policy);
  reply.header(
    'ratelimit',
    perDay === Infinity
      ? minuteState
      : `${minuteState}, "day";r=${left.day};t=${secondsUntil(used.dayEnds, now)}`,
  );
  return isAdmitted ? undefined : exhausted(isDay ? 'day' : 'minute', isDay ? perDay : perMinute, ends, now);
}

function exhausted(window, limit, ends, now) {
  const seconds = secondsUntil(ends, now);
  const requests = limit === 1 ? '1 request' : `${limit} requests`;
  const headers = { 'retry-after': seconds };
  return window === 'day'
    ? refusal(
        429,
        'daily_quota_exceeded',
        `Daily quota of ${requests} exceeded; it resets in ${seconds} s.`,
        headers,
      )
    : refusal(
        429,
        'rate_limit_exceeded',
        `Rate limit of ${requests} per minute exceeded; retry in ${seconds} s.`,
        headers,
      );
}

function secondsUntil(instant, now) {
  return Math.max(1, Math.ceil((instant - now) / 1_000));
}

/** Hook of every route in /v1. Authenticates the caller and counts the request before the body is read. */
export function admit(request, reply, done) {
  const { authorization } = request.headers;
  const found = authorization === undefined ? undefined : callerOf(authorization);
  if (found instanceof Promise) void admitLater(found, request, reply, done);
  else admitCaller(found, request, reply, done);
}

async function admitLater(reading, request, reply, done) {
  try {
    admitCaller(await reading, request, reply, done);
  } catch (error) {
    done(error);
  }
}

function admitCaller(caller, request, reply, done) {
  if (caller !== undefined) {
    request.caller = caller;
    const refused = count(caller.quota, reply);
    return refused === undefined && !caller.scopes.has(request.routeOptions.config.scope)
      ? done(insufficient(request.routeOptions.config.scope))
      : done(refused);
  }
  // Requests without a valid key are counted per address.
  const refused = count(quotaOf(`address:${request.ip}`, 60), reply);
  if (refused !== undefined) return done(refused);
  return request.headers.authorization === undefined
    ? done(refusal(401, 'missing_api_key', 'Send an API key as `Authorization: Bearer <API_KEY>`.', MISSING))
    : done(refusal(401, 'invalid_api_key', 'The API key is not valid.', INVALID));
}

function insufficient(scope) {
  return refusal(403, 'insufficient_scope', `This operation requires a key with the scope ${scope}.`);
}

/** Removes the counters of past windows once a minute. */
setInterval(() => {
  const now = Date.now();
  for (const [subject, { dayEnds }] of counts) if (dayEnds <= now) counts.delete(subject);
}, MINUTE_MS).unref();
