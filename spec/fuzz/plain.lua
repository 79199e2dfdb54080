-- Readers of .npy and .csv that are as plain as can be, and share nothing with ours: for files of a few numbers.

local kinds = {f4 = "f", f8 = "d", i1 = "i1", i2 = "i2", i4 = "i4", i8 = "i8", u1 = "I1", u2 = "I2", u4 = "I4", u8 = "I8", b1 = "B"}

local function half(bits)
  local sign, e, m = bits >> 15 & 1, bits >> 10 & 31, bits & 1023
  local x = e == 31 and (m == 0 and 1 / 0 or 0 / 0) or e == 0 and m * 2.0 ^ -24 or (1024 + m) * 2.0 ^ (e - 25)
  return sign == 1 and -x or x
end

local function read_npy(bytes)
  local wide = bytes:byte(7) > 1
  local length = string.unpack(wide and "<I4" or "<I2", bytes, 9)
  local from = (wide and 13 or 11) + length
  local header = bytes:sub(wide and 13 or 11, from - 1)
  local descr = header:match "['\"]descr['\"]%s*:%s*['\"]([^'\"]*)['\"]"
  local shape = header:match "['\"]shape['\"]%s*:%s*%(([^)]*)%)"
  local fortran = header:match "['\"]fortran_order['\"]%s*:%s*(%a+)" == "True"
  if not descr or not shape then return nil, header end
  local order, kind = descr:match "^([<>|=]?)(.*)$"
  local counts = {}
  for n in shape:gmatch "%d+" do counts[#counts + 1] = math.tointeger(n) end
  local rows, cols = counts[2] and counts[1] or 1, counts[2] or counts[1] or 1
  if kind == "?" then kind = "b1" end
  local size, endian = tonumber(kind:sub(2)), order == ">" and ">" or "<"
  return rows, cols, function(i, j)
    local at = from + size * (fortran and (j - 1) * rows + i - 1 or (i - 1) * cols + j - 1)
    if kind == "f2" then return half((string.unpack(endian .. "I2", bytes, at))) end
    local x = string.unpack(endian .. kinds[kind], bytes, at)
    if kind == "b1" then return x ~= 0 and 1 or 0 end
    if kind == "u8" and x < 0 then return (x >> 1) * 2.0 end
    return x
  end
end

local named = {nan = 0 / 0, inf = 1 / 0, infinity = 1 / 0}

local function read_number(field)
  local sign, name = field:lower():match '^%s*"?%s*([+-]?)(%a+)%s*"?%s*$'
  if named[name] then return sign == "-" and -named[name] or named[name] end
  local x = tonumber((field:match '^%s*"?%s*%+?([^"]-)%s*"?%s*$'))
  return x and x + 0.0 -- a matrix holds no integers
end

local function read_csv(bytes)
  local lines = {}
  local comma = bytes:find("\t", 1, true) and not bytes:find(",", 1, true) and "\t" or ","
  for line in (bytes:gsub("^\xEF\xBB\xBF", "") .. "\n"):gmatch "(.-)\r?\n" do
    if line:find "%S" then
      local fields = {}
      for field in (line .. comma):gmatch("(.-)" .. comma) do fields[#fields + 1] = field end
      lines[#lines + 1] = fields
    end
  end
  local header = lines[1] and true
  for _, field in ipairs(lines[1] or {}) do header = header and not read_number(field) end
  local cols = lines[1] and #lines[1] or 0
  if header then table.remove(lines, 1) end
  return #lines, cols, function(i, j) return read_number(lines[i][j]) or "no number" end
end

--- rows, cols and a function of (i, j); or nil and why not.
return function(ending, bytes)
  return (ending == ".npy" and read_npy or read_csv)(bytes)
end
