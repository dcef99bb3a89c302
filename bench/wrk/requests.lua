-- wrk -s requests.lua URL -- method=POST paths=FILE [body=FILE | bodies=FILE] [key=PREFIX]
-- Each line of the file is a path or, after a tab, also the key of the request. Sends them in turn, made into requests beforehand so that wrk takes little of the machine. With key, each request has an
-- Idempotency-Key of its own: the prefix and a number.
local requests = {}
local key
local sent = 0

local function read(file)
  local handle = assert(io.open(file))
  local text = handle:read('*a')
  handle:close()
  return text
end

function init(args)
  local options = {}
  for _, arg in ipairs(args) do
    local name, value = arg:match('^(%w+)=(.*)$')
    if name then options[name] = value end
  end
  key = options.key
  local body = options.body and read(options.body)
  if body or options.bodies then wrk.headers['Content-Type'] = 'application/json' end
  if key then wrk.headers['Idempotency-Key'] = '@' end
  if options.bodies then
    local path = io.lines(options.paths)()
    for line in io.lines(options.bodies) do requests[#requests + 1] = wrk.format(options.method, path, nil, line) end
    return
  end
  for line in io.lines(options.paths) do
    local path, credential = line:match('^([^\t]+)\t?(.*)$')
    if credential ~= '' then wrk.headers['Authorization'] = 'Bearer ' .. credential end
    local text = wrk.format(options.method, path, nil, body)
    local from, to = text:find('Idempotency-Key: @', 1, true)
    requests[#requests + 1] = from and { text:sub(1, to - 1) .. key, text:sub(to + 1) } or text
  end
end

function request()
  sent = sent + 1
  local next = requests[sent % #requests + 1]
  if key then return next[1] .. sent .. next[2] end
  return next
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"badStatus":%d,"badSocket":%d,"timeouts":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write, errors.timeout
  ))
end
