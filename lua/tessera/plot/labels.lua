--- labels.lua -- names of rows and columns, as options give them.

local check = require "tessera.check"

local function read(list, n, what, fname)
  check.arg(check.type_of(list) == "table", 2, fname, "field 'labels': list expected for the %s, got %s", what, check.type_of(list))
  check.arg(#list == n, 2, fname, "field 'labels': %d name(s) for the %s, %d expected", #list, what, n)
  local copy = {}
  for i = 1, n do
    local label = list[i]
    check.arg(type(label) == "string" or math.type(label), 2, fname, "field 'labels': string expected at %d, got %s", i,
      check.type_of(label))
    copy[i] = tostring(label)
  end
  return copy
end

--- {rows =, cols =}, lists or nil, of a list (for each axis that has so many) or of such a table.
---@param labels table?
---@return {rows: string[]?, cols: string[]?}
return function(labels, n_rows, n_cols, fname)
  if not labels then return {} end
  if labels.rows ~= nil or labels.cols ~= nil then
    return {
      rows = labels.rows and read(labels.rows, n_rows, "rows", fname),
      cols = labels.cols and read(labels.cols, n_cols, "columns", fname),
    }
  end
  check.arg(#labels == n_rows or #labels == n_cols, 2, fname, "field 'labels': %d name(s) for %d row(s) and %d column(s)", #labels,
    n_rows, n_cols)
  return {
    rows = #labels == n_rows and read(labels, n_rows, "rows", fname) or nil,
    cols = #labels == n_cols and read(labels, n_cols, "columns", fname) or nil,
  }
end
