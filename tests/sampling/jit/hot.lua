local function loop(n) local s = 0 for i = 1, n do s = (s * 31 + i) % 1000003 end return s end
while true do loop(1000000) end
