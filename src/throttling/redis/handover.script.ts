import type { BanRules } from '../bans.js';
import { MARGIN_MS } from './decide.script.js';

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
