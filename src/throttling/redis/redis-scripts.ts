import type { BanRules } from '../bans.js';

/** How long keys outlive what they are for, in milliseconds. */
export const MARGIN_MS = 60_000;

/**
 * Decides requests in Redis, one after the other and atomically. The same steps as MemoryQuotaStore; the suite of
 * the stores holds them against each other. The common case, an admitted request of a key that was never refused,
 * is three commands: the key's state, and one count a window. A request that turns out not to fit is counted back.
 *
 * KEYS, for every request: state of the API key, then one counter a window, its name ending in the window.
 * ARGV, for every request: how many windows; what only the uncommon case needs, as JSON (now, whether there is an API
 * key, length in ms of every window, what every window was last seen at); the limit of every window. Few, because each
 * costs as much as a small command. A window that begins here goes on from what it was last seen at: Redis has lost it.
 * Answers, for every request: the use of every window after it if it is admitted, the first negative when Redis had lost
 * one; else the end of the ban or 0 before that, negative when the ban begins with this request.
 */
export function takeScript({ strikesToBan, forgivenMs, strikeEveryMs, resetMs, ladderMs }: BanRules): string {
  return `
local function refuse(key, windows, arg, rest, kept, answer)
  local now, told = rest[1], 0
  local banned, retryAt, forgiven, strikes, last, bans = kept[1], kept[2], kept[3], kept[4], kept[5], kept[6]
  answer[1] = 0
  for i = 1, windows do
    local used = redis.call('DECR', KEYS[key + i])
    local length = rest[i + 2]
    local ends = now - now % length + length
    if used >= tonumber(ARGV[arg + i]) and ends > told then told = ends end
    answer[i + 1] = used
  end
  local ladder = { ${ladderMs.join(', ')} }
  local function keep()
    local state = string.format('[%.0f,%.0f,%.0f,%d,%.0f,%d]', banned, retryAt, forgiven, strikes, last, bans)
    redis.call('SET', KEYS[key], state, 'PX', ${resetMs + Math.max(...ladderMs) + MARGIN_MS})
  end
  if banned > now then
    -- Told by a clock that was ahead of this one: nothing of a ban lasts longer than all of it.
    local longest = now + ladder[math.min(bans, #ladder)]
    if banned > longest then
      banned, retryAt, last = longest, longest, longest
      keep()
    end
    answer[1] = banned
    return answer
  end
  if not rest[2] then return answer end
  if now - last >= ${resetMs} then strikes, bans = 0, 0 end
  if now >= retryAt then
    forgiven = now + ${forgivenMs}
  elseif told >= retryAt and now >= forgiven and now - last >= ${strikeEveryMs} then
    strikes, last = strikes + 1, now
  end
  retryAt = told
  if strikes >= ${strikesToBan} then
    bans, strikes = bans + 1, 0
    banned = now + ladder[math.min(bans, #ladder)]
    -- A ban is no good conduct: the time without strikes begins at its end.
    retryAt, last = banned, banned
    answer[1] = -banned
  end
  keep()
  return answer
end

local function take(key, windows, arg)
  local answer, fits, lost = {}, true, nil
  local state = redis.call('GET', KEYS[key])
  for i = 1, windows do
    local used = redis.call('INCR', KEYS[key + i])
    if used == 1 then
      local rest = cjson.decode(ARGV[arg])
      local seen = rest[2 + windows + i] or 0
      if seen > 0 then
        used = redis.call('INCRBY', KEYS[key + i], seen)
        lost = true
      end
      -- A counter leaves some time after its window has ended.
      redis.call('PEXPIRE', KEYS[key + i], rest[2 + i] + ${MARGIN_MS})
    end
    if used > tonumber(ARGV[arg + i]) then fits = false end
    answer[i] = used
  end
  if fits and not state and not lost then return answer end
  local rest = cjson.decode(ARGV[arg])
  local kept = state and cjson.decode(state) or { 0, 0, 0, 0, 0, 0 }
  if fits and kept[1] <= rest[1] then
    if lost then answer[1] = -answer[1] end
    return answer
  end
  return refuse(key, windows, arg, rest, kept, answer)
end

local answers, key, arg = {}, 1, 1
while KEYS[key] do
  local windows = tonumber(ARGV[arg])
  answers[#answers + 1] = take(key, windows, arg + 1)
  key, arg = key + 1 + windows, arg + 2 + windows
end
return answers
`;
}

/**
 * How things stand, changing nothing. KEYS as above. Answers the end of the last ban or 0, then the use of every
 * window.
 */
export const PEEK_SCRIPT = `
local values = redis.call('MGET', unpack(KEYS))
local answer = { values[1] and cjson.decode(values[1])[1] or 0 }
for i = 2, #KEYS do answer[i] = tonumber(values[i] or 0) end
return answer
`;

/**
 * Tells Redis what an instance knows of counts and bans. A count is raised to what the instance saw of it and by what
 * it admitted alone since; it never falls. Done once for each id, however often it is sent.
 *
 * KEYS: the id; the counters; the states of API keys. ARGV: how many counters; for each what was seen, what was
 * admitted alone, its length in ms; for each state the end of the ban. Answers the counts after it.
 */
export function handoverScript({ resetMs, ladderMs }: BanRules): string {
  return `
local counters = tonumber(ARGV[1])
local first = redis.call('SET', KEYS[1], '1', 'NX', 'PX', ${MARGIN_MS})
local answer = {}
for i = 1, counters do
  local arg = 2 + (i - 1) * 3
  local name = KEYS[i + 1]
  local used = tonumber(redis.call('GET', name) or 0)
  if first then
    local raised = math.max(used, tonumber(ARGV[arg])) + tonumber(ARGV[arg + 1])
    if raised > used then
      redis.call('SET', name, string.format('%.0f', raised), 'PX', tonumber(ARGV[arg + 2]) + ${MARGIN_MS})
    end
    used = raised
  end
  answer[i] = used
end
for i = counters + 2, #KEYS do
  local banned = tonumber(ARGV[counters * 2 + i])
  local state = redis.call('GET', KEYS[i])
  local kept = state and cjson.decode(state) or { 0, 0, 0, 0, 0, 0 }
  if kept[1] < banned then
    local new = string.format('[%.0f,%.0f,0,0,%.0f,%d]', banned, banned, banned, math.max(kept[6], 1))
    redis.call('SET', KEYS[i], new, 'PX', ${resetMs + Math.max(...ladderMs) + MARGIN_MS})
  end
end
return answer
`;
}
