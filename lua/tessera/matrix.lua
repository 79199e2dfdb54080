-- matrix.lua -- matrices of f64 or f32 numbers, and views of them.

local core = require "tessera.core"
local check = require "tessera.check"

local matrix, methods = {}, core.matrix.methods

for name, f in pairs(core.matrix) do
  if type(f) == "function" then matrix[name] = f end
end

--- The numbers, aligned, as `print` shows them.
---@return string
function methods:tostring()
  return require("tessera.display").text(self)
end

--- Writes the matrix to a file, whose ending tells the format: `.npy`, `.csv` (17 digits: every bit comes
--- back), or `.safetensors` and `.npz`, which hold it as "matrix". `ts.load` reads it. An interrupted
--- save leaves the old file whole.
---     O:save "output.npy"
---@param path string
function methods:save(path)
  require("tessera.files").save(path, self)
end

local fields = {"rows", "cols", "dtype"}

local function names()
  local list = table.move(fields, 1, #fields, 1, {})
  for name in pairs(methods) do list[#list + 1] = name end
  return list
end

-- Called by the __index of matrices, which the user's line called: three levels up.
local function missing(_, key)
  if math.type(key) then
    error(("a matrix has no element [%s]; m(i, j) is one, m:row(i) a row"):format(key), 3)
  end
  error(check.unknown_field("a matrix", key, names()), 3)
end

setmetatable(methods, {__index = missing})

return matrix
