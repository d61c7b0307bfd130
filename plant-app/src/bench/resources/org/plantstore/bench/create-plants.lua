-- Creates plants as fast as they are answered. Arguments: "fresh" for free ids, or "taken" for the ids
-- of a table that TakenIds has filled; the random seed; the number of taken ids. The token is in the
-- environment.
--
-- Every id has 19 digits, so all requests have the same length and only the id is replaced: this
-- program shares the processors with the measured service.

local FIRST, LAST = 100000000, 899999999

local random = math.random
local head, tail, nextId

local function freshId()
  return random(FIRST, LAST) .. 1000000000 + random(0, 899999999) * 10 + random(0, 9)
end

local function takenIdsOf(count)
  local step = (LAST + 1 - FIRST) / count
  return function()
    return FIRST + random(0, count - 1) * step .. "0000000000"
  end
end

function init(arguments)
  math.randomseed(tonumber(arguments[2]))
  nextId = arguments[1] == "taken" and takenIdsOf(tonumber(arguments[3])) or freshId

  local bodyHead, bodyTail = '{"id":', ',"name":"Monstera deliciosa","tag":"tropical"}'
  head = table.concat({
    "POST /plants HTTP/1.1",
    "Host: localhost",
    "Authorization: Bearer " .. os.getenv("TOKEN"),
    "Content-Type: application/json",
    "Content-Length: " .. #bodyHead + 19 + #bodyTail,
    "",
    bodyHead,
  }, "\r\n")
  tail = bodyTail
end

function request()
  return head .. nextId() .. tail
end

function done(summary, latency)
  local errors = summary.errors
  local figures = {
    answers = summary.requests,
    microseconds = summary.duration,
    p50 = latency:percentile(50),
    p99 = latency:percentile(99),
    max = latency.max,
    refused = errors.status,
    unconnected = errors.connect,
    unread = errors.read,
    unwritten = errors.write,
    late = errors.timeout,
  }
  io.write("figures")
  for name, value in pairs(figures) do
    io.write(string.format(" %s=%.0f", name, value))
  end
  io.write("\n")
end
