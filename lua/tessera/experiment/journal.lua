-- journal.lua -- the CSV that an experiment is written down in, a line a run.

local check = require "tessera.check"
local core = require "tessera.core"
local replacing = require "tessera.replacing"
local row = require "tessera.experiment.row"

local MISSING = 2 -- ENOENT

local journal = {}
journal.__index = journal

local function same(a, b)
  if #a ~= #b then return false end
  for n = 1, #a do
    if a[n] ~= b[n] then return false end
  end
  return true
end

--- The columns: the grid's names, seed, what is measured, seconds.
function journal.columns(names, measures)
  local columns = table.move(names, 1, #names, 1, {})
  columns[#columns + 1] = "seed"
  table.move(measures, 1, #measures, #columns + 1, columns)
  columns[#columns + 1] = "seconds"
  return columns
end

local function mapped(list, f)
  local new = {}
  for n, x in ipairs(list) do new[n] = f(x) end
  return new
end

-- Takes over the runs that lines of an older file hold.
local function adopt(self, lines, names)
  local columns = mapped(lines[1], row.unquoted)
  local measures = table.move(columns, #names + 2, #columns - 1, 1, {})
  check.arg(same(columns, journal.columns(names, measures)), 1, "experiment",
    "field 'file': '%s' has the columns %s: another experiment's", self.path, table.concat(columns, ", "))
  self.measures = measures
  for n = 2, #lines do
    local fields = lines[n]
    check.arg(#fields == #columns, 1, "experiment", "field 'file': line %d of '%s' has %d field(s), not %d", n, self.path,
      #fields, #columns)
    local values, read = {}, mapped(fields, row.value)
    for k = #names + 2, #columns do values[columns[k]] = read[k] end
    self.done[row.line(mapped(table.move(read, 1, #names + 1, 1, {}), row.text))] = values
  end
end

-- Keeps what is whole of an older file: an interruption may have cut its last line.
local function mend(self, text, whole)
  if #whole == #text then return end
  replacing(self.path, function(write) write(whole) end)
end

--- The journal at `path`, with `done`: run -> what it measured, as far as an older file has it (unless not `resume`), and
--- `measures`, its names, once they are known. A nil path is a journal that writes nothing.
function journal.open(path, names, resume)
  local self = setmetatable({path = path, names = names, done = {}}, journal)
  if not path then return self end
  local old, why, code = core.open_file(path) -- refuses a pipe and a device, which may never end
  check.arg(old or code == MISSING, 1, "experiment", "field 'file': cannot open '%s': %s", path, why)
  local text = old and resume and old:read "a" or ""
  if old then old:close() end
  local lines, whole = row.parse(text)
  if #lines > 0 then
    adopt(self, lines, names)
    mend(self, text, text:sub(1, whole))
  else
    local head = row.line(mapped(journal.columns(names, {}), row.text)):sub(1, -#"seconds" - 1)
    check.arg(text:sub(1, #head) == head:sub(1, #text), 1, "experiment", "field 'file': '%s' holds something else", path)
  end
  local file, message = io.open(path, #lines > 0 and "ab" or "wb")
  self.file = check.arg(file, 1, "experiment", "field 'file': %s", message)
  self.begun = #lines > 0
  return self
end

local function write_line(self, fields)
  check.that(self.file:write(row.line(fields), "\n") and self.file:flush(), "experiment: '%s' cannot be written", self.path)
end

--- Writes a run down, at once: nothing is lost when a later one is stopped.
function journal:add(values)
  if not self.file then return end
  local columns, fields = journal.columns(self.names, self.measures), {}
  if not self.begun then write_line(self, mapped(columns, row.text)) end
  self.begun = true
  for n, name in ipairs(columns) do fields[n] = row.text(values[name]) end
  write_line(self, fields)
end

function journal:__close() if self.file then self.file:close() end end

return journal
