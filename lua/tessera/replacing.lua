--- replacing.lua -- a file that takes the place of another only when all of it is on the disk.

local check = require "tessera.check"
local core = require "tessera.core"
local source = require "tessera.source"

--- Calls fill(write) for a new file beside `path`, which takes its place only when all of it is on the disk; until then,
--- and after any error, the old file is as it was.
---@param path string
---@param fill fun(write: fun(bytes: string))
return function(path, fill)
  local file, name, target
  local function must(ok, why) if not ok then source.refuse("%s", why) end end
  local function write(bytes) must(file:write(bytes)) end
  local ok, err = pcall(function()
    file, name, target = core.create_beside(path) -- in here, so that nothing that can fail stands between it and its removal
    must(file, name)
    fill(write)
    must(core.sync(file))
    must(file:close())
    must(os.rename(name, target))
  end)
  if ok then return end
  if file then
    os.remove(name) -- first: it asks for no memory
    if io.type(file) == "file" then file:close() end
  end
  check.that(not source.refused(err), "cannot save '%s': %s", path, source.refused(err))
  error(err, 0)
end
