-- verify.lua -- P:verify on each of the standard problems; stops at the first law that fails, with status 1.
--
-- `scripts/tessera scripts/verify.lua`; with `all`, prints each problem's whole table.
local problems = dofile((arg[0]:gsub("[^/]*$", "")) .. "standard.lua")

for _, problem in ipairs(problems) do
  local ok, found = pcall(function() return problem[2]():verify() end)
  if not ok then
    print(("%s: raised an error: %s"):format(problem[1], found))
    os.exit(1)
  end
  for _, law in ipairs(found) do
    if not law.ok then
      print(("%s: %s (%s)"):format(problem[1], law.law, law.where))
      os.exit(1)
    end
  end
  if arg[1] == "all" then print(problem[1]) print(found) print() end
end
print "every law holds on every standard problem"
