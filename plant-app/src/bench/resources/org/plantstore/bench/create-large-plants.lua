-- Creates one plant again and again, with a body of 1 MB. The token is in the environment.

function init()
  local members = {}
  for number = 100001, 200000 do
    members[#members + 1] = ',"' .. number .. '":1'
  end
  wrk.method = "POST"
  wrk.headers["Authorization"] = "Bearer " .. os.getenv("TOKEN")
  wrk.headers["Content-Type"] = "application/json"
  wrk.body = '{"id":1,"name":"fern"' .. table.concat(members) .. "}"
end
