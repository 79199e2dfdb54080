-- Busted's usual output, and below it the one line `N passed, N failed` that ends `make test`.
--
-- Errors count as failures, and a run of no test fails: busted itself exits with the number of failures modulo 256, and
-- with 0 where it found nothing to run.
return function(options)
  local busted = require "busted"
  local handler = require("busted.outputHandlers." .. (options.defaultOutput or "plainTerminal"))(options)

  busted.subscribe({"exit"}, function()
    local passed, failed = handler.successesCount, handler.failuresCount + handler.errorsCount
    io.stdout:write("\n", passed, " passed, ", failed, " failed\n")
    io.stdout:flush()
    if failed > 0 or passed == 0 then os.exit(1, true) end
    return nil, true
  end)

  return handler
end
