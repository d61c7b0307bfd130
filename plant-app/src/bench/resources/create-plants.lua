-- Creates plants as fast as the service responds. The environment variable TOKEN contains the token.
--
-- Every id has 19 digits, so that all requests have the same length and only the id must be replaced.
-- This saves CPU time, which this program takes from the measured service. Each run uses different
-- ids, because creates that are in flight at the end of a run may be stored later.

local random = math.random
local head
local tail = ',"name":"Monstera deliciosa","tag":"tropical"}'

function init()
  math.randomseed(os.time())
  local bodyHead = '{"id":'
  head = table.concat({
    "POST /plants HTTP/1.1",
    "Host: localhost",
    "Authorization: Bearer " .. os.getenv("TOKEN"),
    "Content-Type: application/json",
    "Content-Length: " .. #bodyHead + 19 + #tail,
    "",
    bodyHead,
  }, "\r\n")
end

function request()
  return head
    .. random(100000000, 899999999)
    .. 1000000000 + random(0, 899999999) * 10 + random(0, 9)
    .. tail
end

function done(summary, latency)
  local errors = summary.errors
  io.write(
    string.format(
      "answers %.0f, failures %.0f, micros %.0f, p99 %.0f\n",
      summary.requests,
      errors.connect + errors.read + errors.write + errors.status + errors.timeout,
      summary.duration,
      latency:percentile(99)
    )
  )
end
