-- usage.lua -- a script's --help: the comment at its head.

--- Prints it and ends the process, where the script's arguments ask for it.
return function()
  if arg[1] ~= "--help" and arg[1] ~= "-h" then return end
  local head = false
  for line in io.lines(arg[0]) do
    local text = line:match "^%-%-%s?(.*)$"
    if head and not text then os.exit(0) end
    head = text ~= nil
    if head then print(text) end
  end
end
