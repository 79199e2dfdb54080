-- Bytes changed, cut away, repeated or put in, at random places.
local interesting = {"\0", "\xFF", "\x7F", "\x80", "9", "-", "(", ")", "[", "]", "{", "}", ",", "'", '"', "\\", ":", " ", "\n",
  "18446744073709551615", "9223372036854775807", "-1", "1e308", "\xFF\xFF\xFF\xFF", "\xFF\xFF\xFF\x7F"}

---@param bytes string
---@param random fun(a: integer, b?: integer): integer as math.random
return function(bytes, random)
  for _ = 1, random(3) do
    local at, kind = random(#bytes + 1), random(4)
    local length = kind == 2 and random(8) or 1
    local put = kind == 1 and string.char(random(0, 255)) or kind == 2 and "" or kind == 3 and interesting[random(#interesting)]
      or bytes:sub(at, at + random(16))
    bytes = bytes:sub(1, at - 1) .. put .. bytes:sub(at + (kind == 4 and 0 or length))
  end
  return bytes
end
