import type { BanRules } from '../bans.js';

/** How long keys outlive their window or ban, in milliseconds. */
const MARGIN_MS = 60_000;

/**
 * Atomically decides a request in Redis, in the same steps as MemoryQuotaStore; the shared test suite compares the two. KEYS: the state of
 * the API key, then one counter per window. ARGV: now; 1 with an API key, otherwise 0; then limit and length in ms of each window. Returns
 * the end of the ban or 0, whether it starts with this request, whether the request is admitted, and the counts.
 */
export function takeScript({
  strikesToBan,
  gracePeriodMs,
  minStrikeIntervalMs,
  resetMs,
  banDurationsMs,
}: BanRules): string {
  return `
local now, values = tonumber(ARGV[1]), redis.call('MGET', unpack(KEYS))
local banned, retryAt, forgiven, strikes, last, bans = unpack(values[1] and cjson.decode(values[1]) or { 0, 0, 0, 0, 0, 0 })
local admitted, resetsAt, reply = banned <= now, 0, { 0, 0, 0 }
for i = 2, #KEYS do
  local used = tonumber(values[i] or 0)
  if used >= tonumber(ARGV[2 * i - 1]) then
    local length = tonumber(ARGV[2 * i])
    admitted, resetsAt = false, math.max(resetsAt, now - now % length + length)
  end
  reply[i + 2] = used
end
if admitted then
  reply[3] = 1
  for i = 2, #KEYS do
    local used = redis.call('INCR', KEYS[i])
    -- The counter expires some time after its window has ended.
    if used == 1 then redis.call('PEXPIRE', KEYS[i], tonumber(ARGV[2 * i]) + ${MARGIN_MS}) end
    reply[i + 2] = used
  end
  return reply
end
local banDurations = { ${banDurationsMs.join(', ')} }
local function store()
  local state = string.format('[%.0f,%.0f,%.0f,%d,%.0f,%d]', banned, retryAt, forgiven, strikes, last, bans)
  redis.call('SET', KEYS[1], state, 'PX', ${resetMs + Math.max(...banDurationsMs) + MARGIN_MS})
end
if banned > now then
  -- Written by an instance whose clock was ahead: no ban lasts longer from now than its full length.
  local longest = now + banDurations[math.min(bans, #banDurations)]
  if banned > longest then
    banned, retryAt, last = longest, longest, longest
    store()
  end
  reply[1] = banned
  return reply
end
if ARGV[2] == '0' then return reply end
if now - last >= ${resetMs} then strikes, bans, banned = 0, 0, 0 end
if now >= retryAt then
  forgiven = now + ${gracePeriodMs}
elseif resetsAt >= retryAt and now >= forgiven and now - last >= ${minStrikeIntervalMs} then
  strikes, last = strikes + 1, now
end
retryAt = resetsAt
if strikes >= ${strikesToBan} then
  bans, strikes = bans + 1, 0
  banned = now + banDurations[math.min(bans, #banDurations)]
  -- The time of the ban itself does not count as time without strikes.
  retryAt, last = banned, banned
  reply[1], reply[2] = banned, 1
end
store()
return reply
`;
}

/** Redis's time in milliseconds, so that all instances use the same clock. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Records an instance's heartbeat with the time of Redis, and drops heartbeats in the future, from before the clock was set back. KEYS: the
 * heartbeats; the name of the data. ARGV: id of the instance, or empty for another process; the validity of a heartbeat in ms; the name to
 * give the data unless it has one; how long to keep the name, in ms. Returns the number of instances and the name.
 */
export const BEAT_SCRIPT = `
${NOW}
if ARGV[1] ~= '' then redis.call('ZADD', KEYS[1], now, ARGV[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 1, '+inf')
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]))
local name = redis.call('GET', KEYS[2]) or ARGV[3]
redis.call('SET', KEYS[2], name, 'PX', tonumber(ARGV[4]))
return { redis.call('ZCARD', KEYS[1]), name }
`;
