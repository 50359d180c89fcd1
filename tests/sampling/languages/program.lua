-- A program whose stacks are known.  A comment tells which function a line leads to.
local unpack = table.unpack or unpack

local function burn()
  local i, t = 0, {}
  while i < 20000 do
    i = i + 1
    t[i % 10 + 1] = #t
  end
end -- of burn

local function inner()
  burn() -- -> burn
end

local function nested()
  inner() -- -> inner
  return nil
end

local function recursion(depth)
  if depth == 0 then
    burn() -- -> burn
    return 0
  end
  local below = recursion(depth - 1) -- -> recursion
  return below + 1
end

local function by_burning(a, b)
  burn() -- -> burn
  return a < b
end

local function callback()
  table.sort({ 2, 1 }, by_burning) -- -> by_burning
end

local shop = setmetatable({}, {})
function shop.index(self, key)
  burn() -- -> burn
  return key
end
getmetatable(shop).__index = shop.index

local function methods()
  local text = shop.anything -- -> index
  return text .. "s"
end

local function trying()
  pcall(burn) -- -> burn
end

local function generator(...)
  burn() -- -> burn
  coroutine.yield(select("#", ...))
  inner() -- -> inner
end

local function coroutines()
  local co = coroutine.create(generator)
  coroutine.resume(co, 1, 2) -- -> generator
  coroutine.resume(co) -- -> generator
end

local function waiting()
  io.read("*l") -- -> nowhere
end

local all = { nested = nested, recursion = recursion, callback = callback, methods = methods, trying = trying,
              coroutines = coroutines, waiting = waiting }
local ways = { "nested", "recursion", "callback", "methods", "trying", "coroutines" }
if arg[1] ~= "all" then
  ways = { arg[1] }
end
while true do
  for _, way in ipairs(ways) do
    all[way](30) -- -> nested, recursion, callback, methods, trying, coroutines, waiting
  end
end
