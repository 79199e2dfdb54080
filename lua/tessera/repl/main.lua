-- main.lua -- what the command `tessera` runs for a prompt; its argument is a script to run first.
require("tessera.repl").open((...))
