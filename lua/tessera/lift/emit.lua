-- emit.lua -- hands a node and what it stands on to the core as a program.

local core = require "tessera.core"

-- The nodes that `result` stands on, itself the last, in an order in which operands come first.
local function needed(graph, result)
  local wanted, list = {[result.id] = true}, {}
  for id = result.id, 1, -1 do
    if wanted[id] then
      local node = graph.nodes[id]
      for _, operand in ipairs {node.a, node.b, node.c} do wanted[operand.id] = true end
    end
  end
  for id = 1, result.id do
    if wanted[id] then list[#list + 1] = graph.nodes[id] end
  end
  return list
end

--- The program whose result is the node `result`.
return function(graph, result)
  local nodes, tables, position, numbered = {}, {}, {}, {}
  local function table_number(extra)
    if not numbered[extra] then
      tables[#tables + 1] = extra
      numbered[extra] = #tables
    end
    return numbered[extra]
  end
  for at, node in ipairs(needed(graph, result)) do
    position[node] = at
    local item = {node.op}
    if node.constant then
      item[2] = node.value
    else
      for _, operand in ipairs {node.a, node.b, node.c} do
        item[#item + 1] = position[operand]
      end
      if node.op == "call" then item[5] = node.extra.program
      elseif node.extra then item[#item + 1] = table_number(node.extra) end
    end
    nodes[at] = item
  end
  return core.program.new(nodes, tables)
end
