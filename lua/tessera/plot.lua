--- Pictures: heat maps, masks, tiles, traces, curves and histograms, as files or on the terminal.
--
-- All take a table of options: `title`, `xlabel`, `ylabel`, `file` (its ending picks PNG, SVG or PDF; drawn by gnuplot),
-- `size` ({width, height} in pixels, {800, 600} unless given). Without `file` the picture is printed, in block characters,
-- `width` wide (the terminal's unless given), in colours where standard output is a terminal and NO_COLOR is not set; with
-- `terminal = "sixel"`, as pixels for a terminal that shows them. Where gnuplot is missing, a line on standard error says
-- so, and the picture is printed.
--     ts.plot.mask(ts.mask.causal(12), {title = "causal"})

local check = require "tessera.check"
local draw = require "tessera.plot.picture".draw

local plot = {}

--- The heat map of a matrix: dark is small, light is large; NaN, −∞ and ∞ have colours of their own.
--
-- * `labels`: names for rows and columns (a list for both, or {rows =, cols =}), such as tokens.
-- * `mask` (and its head `h`): cells that it drops are drawn as masked, whatever their number.
-- * `range`: {low, high} of the colours; the least and the largest number unless given. `zlabel` names the scale.
--
--     ts.plot.matrix(P:weights(1), {mask = P.mask, labels = words, title = "weights of head 1", file = "weights.png"})
-- Of a matrix with more than 512 rows or columns, a cell of the picture is the largest of several that are kept.
---@param m matrix
---@param options? table
---@return string? file
function plot.matrix(m, options) return draw("matrix", m, options) end

--- The picture of a mask: rows are queries, columns keys; a kept cell is dark blue, a dropped one grey.
--     ts.plot.mask(ts.mask.window(64, 8, 0), {file = "window.svg"})
-- Takes `labels` and `h` as ts.plot.matrix does. Of a large mask, a cell shows which part of several is kept.
---@param m mask
---@param options? table
---@return string? file
function plot.mask(m, options) return draw("mask", m, options) end

--- The picture of tiles: empty, partial or full. Of what m:tiles(q, k) gives, or of a problem with `tiling` (as of
--- P:attention; head `h`): then each tile bears the number of its visit; empty ones are passed over.
--     ts.plot.tiles(ts.mask.causal(64):tiles(8, 8))
--     ts.plot.tiles(P, {tiling = {q = 8, k = 8, order = "backward"}, file = "order.png"})
---@param x table|problem
---@param options? table
---@return string? file
function plot.tiles(x, options) return draw("tiles", x, options) end

--- The picture of a trace: m, ℓ, and what the two sides of each merge are multiplied by, step by step.
--     ts.plot.trace(P:trace(5, {k = 4}), {file = "trace.png"})
---@param t table what P:trace gives
---@param options? table
---@return string? file
function plot.trace(t, options) return draw("trace", t, options) end

--- Curves: a list of series, or one.
--
-- A series is {x = list, y = list, low = list, high = list, label = text}: `x` is 1, 2, .. unless given, `low` and `high` make
-- a band; lists of numbers, or matrices of one row or column. The list may have an `xlabel` and a `ylabel`, as those of
-- an experiment have, for an axis that the options leave without a name. `log` = "x", "y" or "xy". What is no finite number,
-- or not above 0 on a logarithmic axis, leaves a gap and a red mark at the axis.
--     ts.plot.curves({{x = {64, 128, 256}, y = {1e-7, 2e-7, 3e-7}, label = "online"}}, {log = "xy", file = "error.svg"})
---@param series table
---@param options? table
---@return string? file
function plot.curves(series, options) return draw("curves", series, options) end

--- A histogram of numbers (a list or a matrix), such as errors in ulps: in `bins` of one width (of one ratio with `log` =
--- "x"); values that are no finite number are counted beside it.
--     ts.plot.histogram(errors, {xlabel = "ulps", bins = 20, file = "ulps.pdf"})
---@param x matrix|number[]
---@param options? table
---@return string? file
function plot.histogram(x, options) return draw("histogram", x, options) end

return check.closed(plot, "ts.plot")
