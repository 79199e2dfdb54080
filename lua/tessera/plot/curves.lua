--- curves.lua -- curves, with bands.

local chart = require "tessera.plot.chart"
local series = require "tessera.plot.series"

--- A chart of series.
return function(x, o)
  local list = series.read(x, "curves")
  return chart.new{
    series = list, log_x = o.log == "x" or o.log == "xy", log_y = o.log == "y" or o.log == "xy",
    title = o.title or ("%d curve%s"):format(#list, #list == 1 and "" or "s"),
    xlabel = o.xlabel or list.xlabel or "x", ylabel = o.ylabel or list.ylabel or "y",
  }
end
