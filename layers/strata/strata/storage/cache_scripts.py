"""The cache's operations as Lua: each is one round trip, atomic, and stays inside the slot of one session.

A header (a hash) says what the list beside it is worth: ``last``, the seq of its newest entry; ``born``, when the
session was opened, so that a later session of the same name is not mistaken for it; ``session``, the session itself;
``fresh``, until when the list may be read without asking the database; ``shut``, until when nothing is stored (after
an erasure).

The list is contiguous and ends at ``last``. So it is complete for a range of n messages if it has n entries, or as many
as the session. Nothing else needs to be known about expiry: a stub is short, and that shows.

Entries travel joined, as one argument and one answer: a client takes longer over sixty values than over one.
"""

_CLOCK = """
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
"""

_LINES = """
local function lines(text)
  local found = {}
  for line in string.gmatch(text, '[^\\n]+') do found[#found + 1] = line end
  return found
end
"""

LOAD = (
    _CLOCK
    + """
-- KEYS header list summary working  ARGV limit
local working = redis.call('GET', KEYS[4])
local h = redis.call('HMGET', KEYS[1], 'last', 'session', 'fresh')
if not h[2] then return {working} end
local items = redis.call('LRANGE', KEYS[2], 0, ARGV[1] - 1)
if #items < math.min(tonumber(ARGV[1]), tonumber(h[1])) then return {working} end
local fresh = tonumber(h[3]) > now and 1 or 0
return {working, h[1], h[2], fresh, redis.call('GET', KEYS[3]), table.concat(items, ',')}
"""
)
"""Returns the scratch alone, or scratch, last, session, freshness, summary and the newest entries, commas between."""

PUSH = (
    _CLOCK
    + _LINES
    + """
-- KEYS header list  ARGV born first session ttl length sent verify entries patience
local h = redis.call('HMGET', KEYS[1], 'last', 'born', 'shut')
local entries = lines(ARGV[8])
local first, last = tonumber(ARGV[2]), tonumber(h[1])
local newest = first + #entries - 1
if (tonumber(h[3]) or 0) > now then return 'shut' end
if h[2] and h[2] > ARGV[1] then return 'older session' end
if h[2] ~= ARGV[1] then last = nil end
if last and newest <= last then return 'repeat' end
local skip = 0
if last and first <= last + 1 then skip = last + 1 - first
elseif redis.call('LLEN', KEYS[2]) > 0 then redis.call('DEL', KEYS[2]) end
local length = redis.call('LPUSH', KEYS[2], unpack(entries, 1 + skip))
if length > tonumber(ARGV[5]) then redis.call('LTRIM', KEYS[2], 0, ARGV[5] - 1) end
local fresh = 0
if now - ARGV[6] < tonumber(ARGV[9]) then fresh = now + ARGV[7] end
redis.call('HSET', KEYS[1], 'last', newest, 'born', ARGV[1], 'session', ARGV[3], 'fresh', string.format('%.0f', fresh))
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 'pushed'
"""
)
"""Adds entries (a line each, oldest first) behind the newest. A gap empties the list first; what is there is left out.

A push that is run later than its sender waited is stored, but vouches for nothing: the sender has given it up, and may
have given up others since.
"""

REFILL = (
    _CLOCK
    + _LINES
    + """
-- KEYS header list summary  ARGV born last session ttl sent verify summary summary_upto summary_ttl entries patience
local h = redis.call('HMGET', KEYS[1], 'last', 'born', 'shut')
local last = tonumber(h[1])
if (tonumber(h[3]) or 0) > now then return 'shut' end
if h[2] and h[2] > ARGV[1] then return 'older session' end
if h[2] ~= ARGV[1] then last = nil end
if last and last > tonumber(ARGV[2]) then return 'newer there' end
local entries = lines(ARGV[10])
local length = redis.call('LLEN', KEYS[2])
if last ~= tonumber(ARGV[2]) or length < #entries then
  if length > 0 then redis.call('DEL', KEYS[2]) end
  for i = 1, #entries, 1000 do redis.call('RPUSH', KEYS[2], unpack(entries, i, math.min(i + 999, #entries))) end
end
local fresh = 0
if now - ARGV[5] < tonumber(ARGV[11]) then fresh = now + ARGV[6] end
redis.call('HSET', KEYS[1], 'last', ARGV[2], 'born', ARGV[1], 'session', ARGV[3], 'fresh', string.format('%.0f', fresh))
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4])
local upto = tonumber(string.match(redis.call('GET', KEYS[3]) or '0', '^%d+'))
if h[2] ~= ARGV[1] then upto = 0 end
if tonumber(ARGV[8]) > 0 and upto <= tonumber(ARGV[8]) then redis.call('SET', KEYS[3], ARGV[7], 'EX', ARGV[9]) end
return 'filled'
"""
)
"""Replaces the list (a line each, newest first) unless something newer is there. Without entries: renews the header."""

PUT_SUMMARY = """
-- KEYS summary  ARGV summary upto ttl
local upto = tonumber(string.match(redis.call('GET', KEYS[1]) or '0', '^%d+'))
if upto <= tonumber(ARGV[2]) then redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3]) end
"""
"""Stores a summary unless one that covers more is there."""

DROP = (
    _CLOCK
    + """
-- KEYS header, then all others of the session  ARGV shut_ms ttl
redis.call('DEL', unpack(KEYS))
redis.call('HSET', KEYS[1], 'shut', string.format('%.0f', now + ARGV[1]))
redis.call('EXPIRE', KEYS[1], ARGV[2])
"""
)
"""Forgets everything, and stores nothing for a while: a refill or push under way must not bring it back."""

LOCK = """
-- KEYS lock  ARGV token seconds
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
"""

UNLOCK = """
-- KEYS lock  ARGV token
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""

REMEMBER = """
-- KEYS digests  ARGV now until ttl digest...
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
for i = 4, #ARGV do redis.call('ZADD', KEYS[1], ARGV[2], ARGV[i]) end
redis.call('EXPIRE', KEYS[1], ARGV[3])
"""
"""Keeps digests until an instant (epoch seconds), and drops those whose time has come."""
