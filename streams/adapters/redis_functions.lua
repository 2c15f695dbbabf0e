#!lua name=pratique

-- The quarantine ledger's view: changed by these functions alone (AID-D-001.005 G002).
-- The contract: of each transition every check comes before its first write, so that what is refused changes nothing;
-- state, history, index and the audit offset they stem from change together. Offsets are compared: two appliers, or one
-- that goes by what a restored snapshot does not hold, are refused. What is quarantined is indexed by key generation; a
-- retired generation counts no more, and takes no more. An index has the last 112 bits of each fingerprint: it says no
-- more than that an entry is quarantined, and takes half the memory that it would take with all of them.

local SCHEMA = 'pratique.ledger-view.v3'

local FINGERPRINT, INDEXED, TOGETHER = 64, 28, 1000

local function refuse(code)
  return redis.error_reply('VIEW_' .. code)
end

-- KEYS: partition's meta, indexes of segments, and each transition's entry list. ARGV: offset applied so far, number of
-- indexes, of each its count's field and key generation, the transitions' next offsets and the numbers of their indexes,
-- both divided by blanks, and their records: what a transition has in its own is as little as can be, there are millions.
-- Transitions are applied in order, each in full or not at all; the first that is refused ends it. What the same index
-- takes in is put in together at the end, or before anything is taken out: its first at once, so that an index that is
-- none is noticed while nothing rests on it.
local function apply(keys, args)
  local meta = redis.call('HMGET', keys[1], 'schema', 'applied')
  if meta[1] ~= SCHEMA then return refuse('ABSENT') end
  if meta[2] ~= args[1] then return refuse('OFFSET') end
  local applied, retired, counts, refused = tonumber(args[1]), {}, {}, false
  local function count(field, by) counts[field] = (counts[field] or 0) + by end

  local waiting = {} -- of each number of an index: what it is yet to take in
  local function changed(number, by)
    local field, generation = args[1 + 2 * number], args[2 + 2 * number]
    count(field, by)
    count(field .. ':' .. generation, by)
  end
  local function settle(number)
    local members = waiting[number]
    if members and #members > 0 then
      waiting[number] = {}
      changed(number, redis.call('SADD', keys[1 + number], unpack(members)))
    end
  end

  local function put(entries, number, following, record, generation)
    if tonumber(following) <= applied then return 'OFFSET' end
    if retired[generation] == nil then
      retired[generation] = redis.call('HMGET', keys[1], 'retired:' .. generation)[1]
    end
    if retired[generation] then return 'RETIRED' end
    local decoded, proposed = pcall(cjson.decode, record)
    if not decoded or type(proposed) ~= 'table' or type(proposed.revision) ~= 'number' then return 'MALFORMED' end
    local add = proposed.action == 'add'
    if not add and proposed.action ~= 'remove' then return 'MALFORMED' end
    local fingerprint = proposed.fingerprint_hmac_sha256
    if type(fingerprint) ~= 'string' or string.sub(entries, -FINGERPRINT) ~= fingerprint then return 'MALFORMED' end
    local latest = redis.call('LINDEX', entries, 0)
    if latest == record then return 'REPEATED' end
    local revision = 0
    if latest then
      local readable, current = pcall(cjson.decode, latest)
      if not readable or type(current) ~= 'table' or type(current.revision) ~= 'number' then return 'BROKEN' end
      if current.event_id == proposed.event_id then return 'REUSED' end
      revision = current.revision
    end
    if proposed.revision ~= revision + 1 then return 'REVISION' end
    redis.call('LPUSH', entries, record)
    local member, members = string.sub(fingerprint, -INDEXED), waiting[number]
    if not add then
      settle(number)
      changed(number, -redis.call('SREM', keys[1 + number], member))
    elseif not members then
      changed(number, redis.call('SADD', keys[1 + number], member))
      waiting[number] = {}
    else
      members[#members + 1] = member
      if #members == TOGETHER then settle(number) end
    end
    if revision == 0 then count('entries:' .. generation, 1) end
    applied = tonumber(following)
    return false
  end

  local indexes = tonumber(args[2])
  local records = 4 + 2 * indexes -- arguments before the first record
  local offsets, numbers = string.gmatch(args[records - 1], '%d+'), string.gmatch(args[records], '%d+')
  -- Whatever an entry raises, what was done before it is counted.
  local last, raised
  for place = 1, #keys - 1 - indexes do
    local following, number = offsets(), tonumber(numbers())
    local entries, record = keys[1 + indexes + place], args[records + place]
    local ran, answer = pcall(put, entries, number, following, record, args[2 + 2 * number])
    if not ran then
      raised = answer
    else
      refused = answer
    end
    if raised or refused then break end
    last = following
  end
  for number in pairs(waiting) do settle(number) end
  for field, by in pairs(counts) do
    if by ~= 0 then redis.call('HINCRBY', keys[1], field, by) end
  end
  if last then redis.call('HSET', keys[1], 'applied', last) end
  if raised then return type(raised) == 'table' and raised or redis.error_reply(tostring(raised)) end
  if refused then return refuse(refused) end
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
    if generation == args[3] and facts[index + 1] ~= '0' then -- Lua's -0 is no integer to Redis
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

local POINTED = {'namespace', 'partition_count', 'generation', 'following'}

-- KEYS: what look-ups read. ARGV: its fields as they were read, and as they are to be; empty where there is none.
-- Changed if it is as it was read, and to no namespace of a smaller number. What is as it is to be already is done: a
-- connection that was closed has it sent twice.
local function point(keys, args)
  local found = redis.call('HMGET', keys[1], unpack(POINTED))
  local is_read, is_done, changed = true, true, {}
  for place, name in ipairs(POINTED) do
    local value, read, following = found[place] or '', args[place], args[#POINTED + place]
    is_read, is_done = is_read and value == read, is_done and value == following
    changed[#changed + 1], changed[#changed + 2] = name, following
  end
  if is_done then return redis.status_reply('OK') end
  if not is_read then return refuse('MOVED') end
  local before, after = args[1], args[#POINTED + 1]
  local are_numbers = string.find(before, '^%d+$') and string.find(after, '^%d+$')
  if are_numbers and tonumber(after) < tonumber(before) then return refuse('LOWER') end
  redis.call('HSET', keys[1], unpack(changed))
  return redis.status_reply('OK')
end

-- KEYS: partition's meta, an index a generation, entry lists. ARGV: count's field, number of generations, their names,
-- how many fingerprints of each there are. The lists come generation by generation, and end with their fingerprints.
-- Answers with the meta's facts, the indexes' sizes together, the time, of each entry a 1 where the index has it and a 1
-- where there is a head, else 0, and the heads there are. A retired generation has no size, place or head.
local function look(keys, args)
  local facts = redis.call('HMGET', keys[1], 'schema', 'applied', 'refreshed_ms', args[1])
  local time = redis.call('TIME')
  local generations = tonumber(args[2])
  local size, members, present, heads, place = 0, {}, {}, {}, 1 + generations
  for generation = 1, generations do
    local index = keys[1 + generation]
    local retired = redis.call('HMGET', keys[1], 'retired:' .. args[2 + generation])[1]
    if not retired then size = size + redis.call('SCARD', index) end
    local left = tonumber(args[2 + generations + generation])
    while left > 0 do
      local together, asked = math.min(left, 1000), {}
      for number = 1, together do
        local entries = keys[place + number]
        asked[number] = string.sub(entries, -INDEXED)
        local head = not retired and redis.call('LINDEX', entries, 0)
        present[#present + 1] = head and '1' or '0'
        if head then heads[#heads + 1] = head end
      end
      if retired then
        members[#members + 1] = string.rep('0', together)
      else
        members[#members + 1] = table.concat(redis.call('SMISMEMBER', index, unpack(asked)))
      end
      place, left = place + together, left - together
    end
  end
  return {facts, size, time, table.concat(members), table.concat(present), heads}
end

redis.register_function('pratique_apply', apply)
redis.register_function('pratique_retire', retire)
redis.register_function('pratique_advance', advance)
redis.register_function('pratique_open', open)
redis.register_function('pratique_point', point)
redis.register_function{function_name = 'pratique_look', callback = look, flags = {'no-writes'}}
