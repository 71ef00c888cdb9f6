import type { BanRules } from '../bans.js';

/** How long keys are kept after the end of their window or ban, in milliseconds. */
const MARGIN_MS = 60_000;

/**
 * Decides one request in Redis, atomically, in the same steps as MemoryQuotaStore; the suite of the stores compares the two.
 *
 * KEYS: the state of the API key, then one counter for each window. ARGV: now; 1 with an API key, else 0; then limit and length in ms of
 * each window. Returns the end of the ban or 0, whether it begins with this request, whether the request is admitted, and the counts.
 */
export function takeScript({ strikesToBan, forgivenMs, strikeEveryMs, resetMs, ladderMs }: BanRules): string {
  return `
local now, values = tonumber(ARGV[1]), redis.call('MGET', unpack(KEYS))
local banned, retryAt, forgiven, strikes, last, bans = unpack(values[1] and cjson.decode(values[1]) or { 0, 0, 0, 0, 0, 0 })
local admitted, told, answer = banned <= now, 0, { 0, 0, 0 }
for i = 2, #KEYS do
  local used = tonumber(values[i] or 0)
  if used >= tonumber(ARGV[2 * i - 1]) then
    local length = tonumber(ARGV[2 * i])
    admitted, told = false, math.max(told, now - now % length + length)
  end
  answer[i + 2] = used
end
if admitted then
  answer[3] = 1
  for i = 2, #KEYS do
    local used = redis.call('INCR', KEYS[i])
    -- The counter expires some time after its window has ended.
    if used == 1 then redis.call('PEXPIRE', KEYS[i], tonumber(ARGV[2 * i]) + ${MARGIN_MS}) end
    answer[i + 2] = used
  end
  return answer
end
local ladder = { ${ladderMs.join(', ')} }
local function keep()
  local state = string.format('[%.0f,%.0f,%.0f,%d,%.0f,%d]', banned, retryAt, forgiven, strikes, last, bans)
  redis.call('SET', KEYS[1], state, 'PX', ${resetMs + Math.max(...ladderMs) + MARGIN_MS})
end
if banned > now then
  -- Written by an instance whose clock was ahead: no ban lasts longer from now than its full length.
  local longest = now + ladder[math.min(bans, #ladder)]
  if banned > longest then
    banned, retryAt, last = longest, longest, longest
    keep()
  end
  answer[1] = banned
  return answer
end
if ARGV[2] == '0' then return answer end
if now - last >= ${resetMs} then strikes, bans, banned = 0, 0, 0 end
if now >= retryAt then
  forgiven = now + ${forgivenMs}
elseif told >= retryAt and now >= forgiven and now - last >= ${strikeEveryMs} then
  strikes, last = strikes + 1, now
end
retryAt = told
if strikes >= ${strikesToBan} then
  bans, strikes = bans + 1, 0
  banned = now + ladder[math.min(bans, #ladder)]
  -- The time of the ban itself does not count as time without strikes.
  retryAt, last = banned, banned
  answer[1], answer[2] = banned, 1
end
keep()
return answer
`;
}

/** The time of Redis in milliseconds: the writers of all instances are noted by the same clock. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * Notes the heartbeat of an instance by the clock of Redis; drops times in its future, which are from before it was set back. KEYS: the
 * heartbeats; the name of the data. ARGV: id of the instance, or nothing for another process; for how long a heartbeat counts, in ms; the
 * name that the data has unless it has one; for how long it is kept, in ms. Returns the number of instances and the name.
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
