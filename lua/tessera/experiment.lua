--- Experiments: a function run over a grid of parameters, with seeds, into a table that survives interruptions.

local attempt = require "tessera.attempt"
local check = require "tessera.check"
local core = require "tessera.core"
local grid = require "tessera.experiment.grid"
local journal = require "tessera.experiment.journal"
local progress = require "tessera.progress"
local result = require "tessera.experiment.result"
local row = require "tessera.experiment.row"

-- What a run returned, as a table name -> value.
local function measured(returned, point, book)
  local values = type(returned) == "table" and returned or {value = returned}
  for name, x in pairs(values) do
    check.that(type(name) == "string", "experiment: run returned a table with the key %s; names expected", name)
    check.that(not grid.reserved[name] and point[name] == nil, "experiment: run returned '%s', a name that is taken", name)
    check.that(row.is_plain(x), "experiment: run returned %s = a %s; numbers, strings and booleans can be written down", name,
      core.kind(x))
  end
  check.that(next(values) ~= nil, "experiment: run returned nothing to write down")
  local names = check.names(values)
  book.measures = book.measures or names
  check.that(table.concat(names, ", ") == table.concat(book.measures, ", "), "experiment: run returned %s, and before that %s",
    table.concat(names, ", "), table.concat(book.measures, ", "))
  return values
end

-- Parameters, seed, what was measured, seconds: a row of the result.
local function complete(run, values, seconds)
  local all = {seed = run.seed, seconds = seconds}
  for name, x in pairs(run.point) do all[name] = x end
  for name, x in pairs(values) do all[name] = x end
  return all
end

-- What one run measured; an error of it tells which run that was.
local function measure(f, run, book)
  local ok, values = attempt(function() return measured(f(complete(run, {}), run.seed), run.point, book) end)
  if ok then return values end
  if type(values) ~= "string" then error(values, 0) end
  local where = {}
  for n, name in ipairs(check.names(run.point)) do where[n] = ("%s = %s, "):format(name, run.point[name]) end
  error(("%s, in the run of %sseed %d"):format(values, table.concat(where), run.seed), 0)
end

-- Runs what the journal does not have, in order.
local function perform(f, runs, book)
  local all, to_do, fresh = {resumed = 0}, 0, 0
  for _, run in ipairs(runs) do to_do = to_do + (book.done[run.key] and 0 or 1) end
  local began, bar = core.clock(), progress()
  for n, run in ipairs(runs) do
    if book.done[run.key] then
      all[n], all.resumed = complete(run, book.done[run.key]), all.resumed + 1
    else
      local start = core.clock()
      local values = measure(f, run, book)
      all[n] = complete(run, values, core.clock() - start)
      book:add(all[n])
      fresh = fresh + 1
      bar(fresh / to_do, (core.clock() - began) / fresh * (to_do - fresh))
    end
  end
  return all
end

local kinds = {run = "function", grid = "table", seeds = "any", file = "string", resume = "boolean"}

--- Runs a function over every point of a grid, with every seed, and writes each result down as it comes.
--
-- * `run(p, seed)`: p has a value for each name of the grid; returns a number, or a table of named numbers.
-- * `grid`: name → list of numbers, strings or booleans.
-- * `seeds`: how many (1, 2, ..), or a list of whole numbers; 1 unless given.
-- * `file`: a CSV to write: a line a run, written out at once, so that nothing is lost when the experiment is stopped.
-- * `resume`: true unless given: runs that the file has are not run again. Without, the file is begun anew.
--
--     local e = ts.experiment{
--       grid = {n = {64, 256}, merge = {"online", "tree"}}, seeds = 3, file = "error.csv",
--       run = function(p, seed)
--         local X = ts.randn(p.n, 8, {seed = seed})
--         local P = ts.problem{Q = X, K = X, V = X}
--         return ts.diff(P:attention{k = 16, merge = p.merge}, P:softmax()).ulps
--       end,
--     }
--     print(e)                       -- mean ± standard deviation over the seeds
--     print(e:summary()[1].value.mean, e[1].seconds)
--     ts.plot.curves(e:curves("n"), {log = "x", xlabel = "keys", ylabel = "ulps"})
--
-- The result is a list of runs {name of the grid =, seed =, value = (or the names measured), seconds =}, in the grid's order
-- (names by the alphabet, the last one turning fastest), with `summary()`, with `curves(x, y)`, the measure y (the only one
-- unless given) over the parameter x, a series for each point of the others, and with `resumed`, how many the file had.
-- A bar shows the time left on a terminal. Errors of `run` name the run; what was written stays.
---@param fields table
---@return table
local function experiment(fields)
  check.type(fields, "table", 1, "experiment")
  local o = core.options(fields, 1, "experiment", kinds)
  check.arg(o.run, 1, "experiment", "field 'run' is missing")
  check.arg(o.grid, 1, "experiment", "field 'grid' is missing")
  grid.check(o.grid)
  local names = check.names(o.grid)
  local runs = grid.runs(o.grid, names, o.seeds)
  local book <close> = journal.open(o.file, names, o.resume ~= false)
  local all = perform(o.run, runs, book)
  all.names, all.measures = names, book.measures
  return setmetatable(all, result)
end

return experiment
