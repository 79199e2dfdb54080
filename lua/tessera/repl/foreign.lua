--- foreign.lua -- what other languages write where Lua has something else: advice behind the error of a line that is no Lua.

-- {what the error is near, what the text then has, what Lua has for it}
local known = {
  {"!", "!=", "'not equal' is ~="},
  {"!", "!", "'not' is a word, as in not x"},
  {"&", "&&", "'and' is a word, as in x and y"},
  {"|", "||", "'or' is a word, as in x or y"},
  {"*", "**", "a power is x ^ y"},
  {"+", "+=", "there is x = x + y"},
  {"-", "-=", "there is x = x - y"},
  {"*", "*=", "there is x = x * y"},
  {"/", "/=", "there is x = x / y"},
  {"=", "if ", "x == y compares"},
  {"[", "[", "a list stands in braces, as in {1, 2}"},
  {"#", "#", "a comment begins with --"},
}

-- A function whose body is an expression: `function(i, j) j <= i end`.
local function lacks_return(message, text)
  return message:find "^syntax error near" and text:find "function[^()]*%b()%s*[%w_(]" and not text:find "%f[%a]return%f[%A]"
end

--- What to add to the message of a text that does not compile: "; 'not equal' is ~=", or nothing.
---@param message string
---@param text string
---@return string
return function(message, text)
  local near = message:match "near '(.-)'$"
  for _, entry in ipairs(near and known or {}) do
    if near:sub(1, 1) == entry[1] and text:find(entry[2], 1, true) then return "; " .. entry[3] end
  end
  return lacks_return(message, text) and "; a function gives a value by return" or ""
end
