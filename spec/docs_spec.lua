-- The manual: every line of Lua in it is typed and held against what it promises, the C program is built against what
-- `make install` leaves, and the pages that `make docs` builds hold together.
package.path = package.path .. ";scripts/?.lua"
local helper = require "spec.helper"
local markdown = require "markdown"
local mpirun = require "spec.mpirun"
local reference = require "tessera.reference"
local transcript = require "spec.transcript"

local function lines_of(command)
  local list = {}
  for line in helper.run(command):gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

local chapters = lines_of "ls manual/*.md | grep -v 6-ranks" -- those that one process can type

-- Runs a command outside of the make that may have started the specs.
local function run(command)
  local said, status = helper.run("unset MAKEFLAGS MFLAGS MAKELEVEL; " .. command)
  assert(status == 0, ("%s: status %d\n%s"):format(command, status, said))
  return said
end

local function trimmed(text) return (text:gsub("%s+$", "")) end

describe("the manual's", function()
  for _, path in ipairs(chapters) do
    it(path:match "[^/]+$" .. " shows what the prompt shows", function()
      local prompt, typed = transcript.new(), 0
      for _, fence in ipairs(markdown.fences(helper.read(path))) do
        if fence.language == "lua" then
          prompt:type(fence.text)
          typed = typed + 1
        elseif fence.language == "text" and typed > 0 then
          assert.equal(fence.text, trimmed(prompt.shown))
        end
      end
      assert.is_true(typed == 0 or prompt.kept > 5)
    end)
  end

  it("chapter of many processes shows what two ranks show", function()
    if not mpirun.is_here then return pending "needs `make mpi`" end
    assert.are.same({"", 0}, {mpirun.run(2, "spec/mpi/ranks/chapter.lua")})
  end)

  it("chapters promise enough to be wrong", function()
    local prompt = transcript.new()
    assert.has_error(function() prompt:type "1 + 1 --> 3" end)
    assert.has_error(function() prompt:type "nothing.here" end)
    assert.has_error(function() prompt:type "for i = 1, 2 do" end)
    assert.equal(0, prompt.kept)
  end)

  if helper.usual then
    it("C program compiles and runs against what is installed", function()
      local root = run("mktemp -d"):match "[^\n]+"
      local program, wanted
      for _, fence in ipairs(markdown.fences(helper.read "manual/c-library.md")) do
        if fence.language == "c" then program = fence.text end
        if fence.language == "text" then wanted = fence.text end
      end
      local file = assert(io.open(root .. "/program.c", "w"))
      file:write(program, "\n")
      file:close()
      run(("make -s install PREFIX=%s/prefix"):format(root))
      local flags = ("$(PKG_CONFIG_PATH=%s/prefix/lib/pkgconfig pkg-config --cflags --libs tessera)"):format(root)
      local said = run(("cd %s && gcc -std=c11 -Wall -Wextra -Wpedantic -Werror program.c %s -o program && ./program"):format(root, flags))
      os.execute("rm -r " .. root)
      assert.equal(wanted .. "\n", said)
    end)
  end
end)

describe("make docs", function()
  local folder, pages = helper.path "", nil
  setup(function()
    run("scripts/docs " .. folder)
    pages = {}
    for _, path in ipairs(lines_of("ls " .. folder .. "/*.html")) do pages[path:match "[^/]+$"] = helper.read(path) end
  end)
  teardown(function() os.execute("rm -r " .. folder) end)

  it("builds a page of every chapter", function()
    for _, path in ipairs(chapters) do assert(pages[path:match "([^/]+)%.md$" .. ".html"], path) end
  end)

  it("builds a reference of every name, each once", function()
    local count = 0
    for _, topic in ipairs(reference.topics()) do
      local _, found = pages["reference.html"]:gsub('<section id="' .. topic.name:gsub(" ", "-"):gsub("%p", "%%%0") .. '"', "")
      assert(found == 1, topic.name .. " stands there " .. found .. " times")
      count = count + 1
    end
    local _, sections = pages["reference.html"]:gsub("<section ", "")
    assert.equal(count, sections)
  end)

  it("leaves no link without its end, and loads nothing from elsewhere", function()
    local links = 0
    for name, html in pairs(pages) do
      for address in html:gmatch 'href="([^"]*)"' do
        local page, anchor = address:match "^([^#]*)#?(.*)$"
        local target = pages[page ~= "" and page or name]
        assert(target, name .. " links to " .. address)
        assert(anchor == "" or target:find('id="' .. anchor .. '"', 1, true), name .. " links to " .. address)
        links = links + 1
      end
      assert.is_nil(html:find "src=")
      assert.is_nil(html:find "http")
    end
    assert.is_true(links > 200)
  end)

  it("closes what it opens", function()
    for name, html in pairs(pages) do
      for _, tag in ipairs{"p", "ul", "li", "pre", "code", "section", "table", "tr", "td", "dl", "dd", "a", "em", "strong", "h2", "h3"} do
        local _, opened = html:gsub("<" .. tag .. "%f[%s>]", "")
        local _, closed = html:gsub("</" .. tag .. ">", "")
        assert(opened == closed, ("%s: %d <%s>, %d </%s>"):format(name, opened, tag, closed, tag))
      end
    end
  end)
end)

describe("markdown", function()
  for given, wanted in pairs{
    ["a < b & `c < d`"] = "<p>a &lt; b &amp; <code>c &lt; d</code></p>",
    ["*one* and **two**, `*three*`"] = "<p><em>one</em> and <strong>two</strong>, <code>*three*</code></p>",
    ["S * T and 2 * 3"] = "<p>S * T and 2 * 3</p>",
    ["[here](4-masks.md)"] = '<p><a href="4-masks.html">here</a></p>',
    ["# A `b` c"] = '<h1 id="a-b-c">A <code>b</code> c</h1>',
    ["- one\n  more\n- two"] = "<ul>\n<li>one more</li>\n<li>two</li>\n</ul>",
    ["| a | b |\n|---|---|\n| `x \\| y` | z |"] = '<div class="wide"><table>\n<tr><th>a</th><th>b</th></tr>\n'
      .. "<tr><td><code>x | y</code></td><td>z</td></tr>\n</table></div>",
    ["```lua\nx < 1\n```\nthen"] = '<pre class="lua"><code>x &lt; 1</code></pre>\n<p>then</p>',
  } do
    it("turns " .. given:gsub("\n", "⏎"), function()
      assert.equal(wanted, markdown.html(given))
    end)
  end
end)
