--- markdown.lua -- the part of Markdown that the manual is written in, as HTML.
--
-- Headings, paragraphs, `-` lists, tables, fenced code; and in lines: code, **bold**, *emphasis*, links. Links to NAME.md
-- become links to NAME.html.

local markdown = {}

function markdown.escape(text)
  return (text:gsub("[&<>\"]", {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}))
end

--- What stands for a heading in an address: "Key by key" is key-by-key.
function markdown.anchor(text)
  return (text:lower():gsub("`", ""):gsub("[^%w%.:_\128-\255]+", "-"):gsub("^%-+", ""):gsub("%-+$", ""))
end

-- A line's text; code in it is kept apart from all other marks.
function markdown.inline(text)
  local kept = {}
  text = text:gsub("`([^`]+)`", function(code)
    kept[#kept + 1] = "<code>" .. markdown.escape(code) .. "</code>"
    return ("\1%d\1"):format(#kept)
  end)
  text = markdown.escape(text)
  text = text:gsub("%[([^%]]+)%]%(([^%)]+)%)", function(words, address)
    return ('<a href="%s">%s</a>'):format(address:gsub("%.md", ".html"), words)
  end)
  text = text:gsub("%*%*([^%*]+)%*%*", "<strong>%1</strong>"):gsub("%*([^%s%*][^%*]*)%*", "<em>%1</em>")
  return (text:gsub("\1(%d+)\1", function(n) return kept[tonumber(n)] end))
end

-- Blocks ------------------------------------------------------------------------------------------

local function cells(line)
  local list = {}
  line = line:gsub("^|", ""):gsub("|%s*$", ""):gsub("\\|", "\2")
  for cell in (line .. "|"):gmatch "([^|]*)|" do
    list[#list + 1] = markdown.inline((cell:gsub("\2", "|"):match "^%s*(.-)%s*$"))
  end
  return list
end

local function table_row(line, tag)
  return ("<tr><%s>%s</%s></tr>"):format(tag, table.concat(cells(line), ("</%s><%s>"):format(tag, tag)), tag)
end

-- Each takes the lines and a place, and returns HTML and the next place; nil where it does not apply.
local blocks = {}

function blocks.code(lines, at)
  local language = lines[at]:match "^```(%w*)"
  if not language then return nil end
  local code = {}
  at = at + 1
  while lines[at] and lines[at] ~= "```" do
    code[#code + 1] = lines[at]
    at = at + 1
  end
  return ('<pre class="%s"><code>%s</code></pre>'):format(language, markdown.escape(table.concat(code, "\n"))), at + 1
end

function blocks.heading(lines, at)
  local marks, text = lines[at]:match "^(#+) (.*)$"
  if not marks then return nil end
  return ('<h%d id="%s">%s</h%d>'):format(#marks, markdown.anchor(text), markdown.inline(text), #marks), at + 1
end

function blocks.table(lines, at)
  if not (lines[at]:find "^|" and (lines[at + 1] or ""):find "^|[%s:|-]+$") then return nil end
  local html = {"<div class=\"wide\"><table>", table_row(lines[at], "th")}
  at = at + 2
  while (lines[at] or ""):find "^|" do
    html[#html + 1] = table_row(lines[at], "td")
    at = at + 1
  end
  return table.concat(html, "\n") .. "\n</table></div>", at
end

function blocks.list(lines, at)
  if not lines[at]:find "^%- " then return nil end
  local items = {}
  while (lines[at] or ""):find "^%- " or (lines[at] or ""):find "^  %S" do
    if lines[at]:find "^%- " then items[#items + 1] = lines[at]:sub(3)
    else items[#items] = items[#items] .. " " .. lines[at]:gsub("^%s+", "") end
    at = at + 1
  end
  for n, item in ipairs(items) do items[n] = "<li>" .. markdown.inline(item) .. "</li>" end
  return "<ul>\n" .. table.concat(items, "\n") .. "\n</ul>", at
end

local function begins_block(line) return line == "" or line:find "^```" or line:find "^#+ " or line:find "^|" or line:find "^%- " end

function blocks.paragraph(lines, at)
  local words = {}
  repeat
    words[#words + 1] = lines[at]
    at = at + 1
  until not lines[at] or begins_block(lines[at])
  return "<p>" .. markdown.inline(table.concat(words, "\n")) .. "</p>", at
end

local order = {"code", "heading", "table", "list", "paragraph"}

--- A text as HTML, without the page around it.
---@param text string
---@return string
function markdown.html(text)
  local lines, html, at = {}, {}, 1
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  while at <= #lines do
    if lines[at] == "" then
      at = at + 1
    else
      for _, name in ipairs(order) do
        local made, after = blocks[name](lines, at)
        if made then
          html[#html + 1], at = made, after
          break
        end
      end
    end
  end
  return table.concat(html, "\n")
end

--- The fenced code of a text, in its order: a list of {language, text}.
---@param text string
---@return {language: string, text: string}[]
function markdown.fences(text)
  local list = {}
  for language, code in ("\n" .. text):gmatch "\n```(%w+)\n(.-)\n```" do list[#list + 1] = {language = language, text = code} end
  return list
end

return markdown
