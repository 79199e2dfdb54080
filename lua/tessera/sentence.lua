-- sentence.lua -- string.format in which nouns agree with their numbers: "%d key(s)" is "1 key" or "2 keys".

--- `fmt` filled with the values, each for one directive. A word of "(s)" behind a directive is plural unless its value is 1.
---@param fmt string as of string.format
---@return string
return function(fmt, ...)
  local values, n = table.pack(...), 0
  fmt = fmt:gsub("(%%[%d.]*%a)([^%%]*)", function(directive, text)
    n = n + 1
    return directive .. text:gsub("^( [%a ]-%a)%(s%)", values[n] == 1 and "%1" or "%1s")
  end)
  return fmt:format(table.unpack(values, 1, values.n))
end
