-- Works for ever, in three functions that take its time.
local function counting(n)
  local t = {}
  for i = 1, n do
    t[i % 100] = (t[i % 100] or 0) + i
  end
  return t
end

local function texts(n)
  local t = {}
  for i = 1, n do
    t[i % 100] = tostring(i):rep(3)
  end
  return t
end

local function sorting(n)
  local t = {}
  for i = 1, n do
    t[i] = (i * 7919) % 1009
  end
  table.sort(t, function(a, b) return a < b end)
  return t
end

while true do
  local a = counting(30000)
  local b = texts(10000)
  local c = sorting(1500)
end
