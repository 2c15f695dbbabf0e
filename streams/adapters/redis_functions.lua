#!lua name=pratique

-- The quarantine ledger's view: changed by these functions alone (AID-D-001.005 G002).
-- The contract: every check comes before the first write, so that a refusal changes nothing; state, history, index and
-- the audit offset they stem from change together. Offsets are compared: two appliers, or one that goes by what a
-- restored snapshot does not hold, are refused. What is quarantined is indexed by key generation; a retired generation
-- counts no more, and takes no more.

local SCHEMA = 'pratique.ledger-view.v2'

local function refuse(code)
  return redis.error_reply('VIEW_' .. code)
end

-- KEYS: entry list, partition's meta, segment's index. ARGV: offset applied so far, next offset, record, count's field,
-- key generation.
local function apply(keys, args)
  local meta = redis.call('HMGET', keys[2], 'schema', 'applied', 'retired:' .. args[5])
  if meta[1] ~= SCHEMA then return refuse('ABSENT') end
  if meta[2] ~= args[1] or tonumber(args[2]) <= tonumber(args[1]) then return refuse('OFFSET') end
  if meta[3] then return refuse('RETIRED') end
  local decoded, proposed = pcall(cjson.decode, args[3])
  if not decoded or type(proposed) ~= 'table' or type(proposed.revision) ~= 'number' then return refuse('MALFORMED') end
  local add = proposed.action == 'add'
  if not add and proposed.action ~= 'remove' then return refuse('MALFORMED') end
  local fingerprint = proposed.fingerprint_hmac_sha256
  if type(fingerprint) ~= 'string' or string.sub(keys[1], -64) ~= fingerprint then return refuse('MALFORMED') end
  local latest = redis.call('LINDEX', keys[1], 0)
  if latest == args[3] then return refuse('REPEATED') end
  local revision = 0
  if latest then
    local readable, current = pcall(cjson.decode, latest)
    if not readable or type(current) ~= 'table' or type(current.revision) ~= 'number' then return refuse('BROKEN') end
    if current.event_id == proposed.event_id then return refuse('REUSED') end
    revision = current.revision
  end
  if proposed.revision ~= revision + 1 then return refuse('REVISION') end
  redis.call('LPUSH', keys[1], args[3])
  local changed
  if add then
    changed = redis.call('SADD', keys[3], fingerprint)
  else
    changed = -redis.call('SREM', keys[3], fingerprint)
  end
  if changed ~= 0 then
    redis.call('HINCRBY', keys[2], args[4], changed)
    redis.call('HINCRBY', keys[2], args[4] .. ':' .. args[5], changed)
  end
  if revision == 0 then redis.call('HINCRBY', keys[2], 'entries:' .. args[5], 1) end
  redis.call('HSET', keys[2], 'applied', args[2])
  return redis.status_reply('OK')
end

-- KEYS: partition's meta. ARGV: offset applied so far, next offset (the same where nothing was passed), end of the audit.
local function advance(keys, args)
  local meta = redis.call('HMGET', keys[1], 'schema', 'applied')
  if meta[1] ~= SCHEMA then return refuse('ABSENT') end
  if meta[2] ~= args[1] or tonumber(args[2]) < tonumber(args[1]) then return refuse('OFFSET') end
  local time = redis.call('TIME')
  if args[2] ~= args[1] then redis.call('HSET', keys[1], 'applied', args[2]) end
  if args[2] == args[3] then
    redis.call('HSET', keys[1], 'refreshed_ms', string.format('%d%03d', time[1], math.floor(time[2] / 1000)))
  end
  return redis.status_reply('OK')
end

-- KEYS: partition's meta. ARGV: offset applied so far, next offset, key generation.
-- Entries and index of the generation stay until the view is built anew; nothing counts or looks at them any more.
local function retire(keys, args)
  local meta = redis.call('HMGET', keys[1], 'schema', 'applied')
  if meta[1] ~= SCHEMA then return refuse('ABSENT') end
  if meta[2] ~= args[1] or tonumber(args[2]) <= tonumber(args[1]) then return refuse('OFFSET') end
  local facts = redis.call('HGETALL', keys[1])
  for index = 1, #facts, 2 do
    local segment, generation = string.match(facts[index], '^(quarantined:[^:]*:[^:]*):(.*)$')
    if generation == args[3] then
      redis.call('HINCRBY', keys[1], segment, -tonumber(facts[index + 1]))
      redis.call('HSET', keys[1], facts[index], '0')
    end
  end
  redis.call('HSET', keys[1], 'retired:' .. args[3], '1', 'entries:' .. args[3], '0', 'applied', args[2])
  return redis.status_reply('OK')
end

-- KEYS: partition's meta. ARGV: first offset of the audit.
local function open(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then return refuse('EXISTS') end
  redis.call('HSET', keys[1], 'schema', SCHEMA, 'applied', args[1], 'refreshed_ms', '0')
  return redis.status_reply('OK')
end

-- KEYS: partition's meta, an index a generation, entry lists. ARGV: count's field, number of generations, their names,
-- how many fingerprints of each there are, the fingerprints, generation by generation.
-- Answers with the meta's facts, the indexes' sizes together, the time, and of each entry its place in the index and its
-- head. A retired generation has no size, place or head.
local function look(keys, args)
  local facts = redis.call('HMGET', keys[1], 'schema', 'applied', 'refreshed_ms', args[1])
  local time = redis.call('TIME')
  local generations = tonumber(args[2])
  local size, members, heads, place = 0, {}, {}, 0
  for generation = 1, generations do
    local index = keys[1 + generation]
    local retired = redis.call('HMGET', keys[1], 'retired:' .. args[2 + generation])[1]
    if not retired then size = size + redis.call('SCARD', index) end
    for _ = 1, tonumber(args[2 + generations + generation]) do
      place = place + 1
      members[place], heads[place] = 0, false
      if not retired then
        members[place] = redis.call('SISMEMBER', index, args[2 + 2 * generations + place])
        heads[place] = redis.call('LINDEX', keys[1 + generations + place], 0)
      end
    end
  end
  return {facts, size, time, members, heads}
end

redis.register_function('pratique_apply', apply)
redis.register_function('pratique_retire', retire)
redis.register_function('pratique_advance', advance)
redis.register_function('pratique_open', open)
redis.register_function{function_name = 'pratique_look', callback = look, flags = {'no-writes'}}
