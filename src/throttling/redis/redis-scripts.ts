import type { BanRules } from '../bans.js';

/** How long keys are kept after the end of their window or ban, in milliseconds. */
const MARGIN_MS = 60_000;

/**
 * Decides requests in Redis, one after the other and atomically, in the same steps as MemoryQuotaStore; the suite of the stores
 * compares the two. The common case, an admitted request of a key that was never refused, takes three commands: the key's state,
 * and one increment per window. If a window turns out to be full, the increments are undone.
 *
 * KEYS, for every request: state of the API key, then one counter a window, its name ending in the window.
 * ARGV, for every request: the number of windows; what only the uncommon case needs, as JSON (now, whether there is an
 * API key, length in ms of every window, last known count of every window); the limit of every window. Arguments are few, because
 * each costs as much as a small command. A counter that is new here although its count was known has been lost by Redis, and
 * continues from the known count. Returns, for every request: if it is admitted, the counts of its windows, the first negative
 * when Redis had lost one; else the end of the ban or 0, negative when the ban begins with this request, and then the counts.
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
    redis.call('SET', KEYS[key], state, 'PX', ${keptMs({ resetMs, ladderMs })})
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
  if not rest[2] then return answer end
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
      -- The counter expires some time after its window has ended.
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
 * Gives Redis a count that an instance knows. It becomes at least the one that the instance last saw, plus what this has
 * admitted alone since; it never decreases. What an instance has sent is noted, so that it counts once, however often it is sent.
 *
 * KEYS: the counter, and the note. ARGV: the last seen count, what was admitted by the instance itself in this window, the part of that
 * which it knows to be counted here, the length in ms. Returns the count afterwards.
 */
export const HAND_OVER_SCRIPT = `
local used = tonumber(redis.call('GET', KEYS[1]) or 0)
local alone = tonumber(ARGV[2])
local noted = math.max(tonumber(ARGV[3]), tonumber(redis.call('GET', KEYS[2]) or 0))
local raised = math.max(used, tonumber(ARGV[1])) + math.max(0, alone - noted)
local expiry = tonumber(ARGV[4]) + ${MARGIN_MS}
if raised > used then redis.call('SET', KEYS[1], string.format('%.0f', raised), 'PX', expiry) end
if alone > noted then redis.call('SET', KEYS[2], ARGV[2], 'PX', expiry) end
return raised
`;

/**
 * Gives Redis a ban that an instance knows. KEYS: the state of the API key. ARGV: the end of the ban; 1 when it began in that instance; how many
 * bans the key has had, at least.
 * One that was learned from Redis begins again only where Redis has lost the state: else it was lifted since. Returns whether the key is
 * banned.
 */
export function banScript({ resetMs, ladderMs }: BanRules): string {
  return `
local banned = tonumber(ARGV[1])
local state = redis.call('GET', KEYS[1])
local kept = state and cjson.decode(state) or { 0, 0, 0, 0, 0, 0 }
if kept[1] < banned and (not state or ARGV[2] == '1') then
  local new = string.format('[%.0f,%.0f,0,0,%.0f,%d]', banned, banned, banned, math.max(kept[6], tonumber(ARGV[3])))
  redis.call('SET', KEYS[1], new, 'PX', ${keptMs({ resetMs, ladderMs })})
  kept[1] = banned
end
return kept[1] > 0 and 1 or 0
`;
}

/** How long the state of a key is kept, in milliseconds. */
export function keptMs({ resetMs, ladderMs }: Pick<BanRules, 'resetMs' | 'ladderMs'>): number {
  return resetMs + Math.max(...ladderMs) + MARGIN_MS;
}
