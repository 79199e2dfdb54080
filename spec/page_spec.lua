-- Pages: one file that needs nothing else, in which text is text; and the tile player, in a browser where there is one.
local helper = require "spec.helper"
local ts = require "tessera"

local X = ts.randn(12, 3, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, mask = ts.mask.causal(12)}
local path

local function read()
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local function page(items)
  assert.equal(path, ts.page(path, items))
  return read()
end

before_each(function() path = os.tmpname() .. ".html" end)
after_each(function()
  os.remove(path)
  os.remove((path:gsub("%.html$", "")))
end)

describe("a page", function()
  local everything = {
    title = "All", "# Part\nText.",
    {plot = "matrix", X, title = "X"}, {plot = "curves", {1, 2, 3}}, {table = {{"a", 1}}, head = {"b", "c"}},
    {tiles = P, tiling = {q = 4, k = 4}}, P:verify{}, X, 12, {plot = "histogram", X},
  }

  it("is one file, which asks for no other", function()
    local text = page(everything)
    assert.matches("^<!DOCTYPE html>", text)
    for _, needle in ipairs{"https?://[^w]", "<link", "@import", "src=", "url%([^#]"} do assert.is_falsy(text:find(needle), needle) end
    for address in text:gmatch "https?://[%w./]+" do assert.matches("^http://www.w3.org/", address) end -- names of XML, never fetched
    for reference in text:gmatch "href='([^']+)'" do assert.is_truthy(reference:find "^#" or reference:find "^data:image/png;base64,") end
  end)

  it("draws what is masked as a shade of the page, which may be dark", function()
    local svg = page{{plot = "mask", ts.mask.causal(4)}}:match "<svg.*</svg>"
    if not svg then return pending "there is no gnuplot" end
    assert.matches("fill='#808080' fill-opacity='.255'", svg, 1, true)
    assert.is_falsy(svg:find("fill *= *'rgb%(222, 222, 222%)'"))
  end)

  it("has every name once, though it has several pictures", function()
    local seen = {}
    for id in page(everything):gmatch "id=['\"]([^'\"]+)" do
      assert.is_nil(seen[id], id)
      seen[id] = true
    end
    assert.is_truthy(next(seen))
  end)

  it("refers only to names that it has", function()
    local text = page(everything)
    for name in text:gmatch "href='#([^']+)'" do assert.is_truthy(text:find("id='" .. name .. "'", 1, true), name) end
  end)

  it("shows text as it is written", function()
    local hostile = "<script>alert(1)</script> & \"'\27[2J</pre></script><!--"
    local text = page{title = hostile, hostile, "# " .. hostile, {table = {{hostile}}, head = {hostile}, title = hostile},
      setmetatable({}, {__tostring = function() return hostile end}),
      {plot = "matrix", ts.eye(2), title = hostile, labels = {hostile, "b"}},
      {tiles = P, tiling = {q = 4, k = 4}, title = hostile}}
    assert.is_falsy(text:find("<script>alert", 1, true))
    assert.is_falsy(text:find("\27", 1, true))
    local _, scripts = text:gsub("</script>", "")
    assert.equal(2, scripts) -- the player's data, and the player
    assert.is_truthy(text:find("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;&#39;\\27[2J", 1, true))
  end)

  it("makes paragraphs, headings and tables", function()
    local text = page{"one\ntwo\n\nthree", "# A\nfour", {table = {{"x", 1.5, 2}, {"y", -1 / 0, 3}}, head = {"", "a", "b"}, title = "t"}}
    assert.is_truthy(text:find("<p>one\ntwo</p>\n<p>three</p>\n<h2>A</h2>\n<p>four</p>", 1, true))
    assert.is_truthy(text:find('<caption>t</caption>\n<thead><tr><th></th><th class="number">a</th>', 1, true))
    assert.is_truthy(text:find('<tr><td>y</td><td class="number">−∞</td><td class="number">3</td></tr>', 1, true))
  end)

  it("keeps the old file where it cannot be made", function()
    page{"old"}
    assert.has_error(function() ts.page(path, {"new", {plot = "matrix", 5}}) end)
    assert.matches("<p>old</p>", read())
  end)

  it("names the item that is wrong", function()
    local unprintable = setmetatable({}, {__tostring = function() return {} end})
    for message, items in pairs{
      ["item 2: there is no picture 'matrx'"] = {"a", {plot = "matrx", X}},
      ["item 1: a table with 'plot', 'table' or 'tiles' expected"] = {{}},
      ["item 1: row 1: list expected, got number"] = {{table = {5}}},
      ["item 1: row 1, column 2 cannot be printed"] = {{table = {{1, unprintable}}}},
      ["item 1: head 1 cannot be printed"] = {{table = {{1}}, head = {unprintable}}},
      ["item 1: its title cannot be printed"] = {{table = {{1}}, title = unprintable}},
      ["its title cannot be printed"] = {"text", title = unprintable},
      ["item 1: field 'tiles': problem expected, got matrix"] = {{tiles = X}},
      ["item 1: 144 × 12 tiles"] = {{tiles = P:with{Q = ts.zeros(144, 3), mask = ts.mask.full{144, 12}}, tiling = {q = 1, k = 1}}},
      ["there is no row 13 of 12"] = {{tiles = P, rows = {13}}},
      ["invalid field 'titel'"] = {titel = "x"},
      ["item 2 is nil"] = {"a", nil, {plot = "matrix", X}}, -- a result that was not there left out all behind it
    } do
      local ok, err = pcall(ts.page, path, items)
      assert.is_false(ok)
      assert.is_truthy(err:find(message, 1, true), err)
    end
    assert.error_matches(function() ts.page("a.txt", {}) end, "is not .html")
  end)
end)

describe("the tile player", function()
  local browser = os.execute "command -v chromium >/dev/null 2>&1"
  local home
  setup(function() home = helper.run("mktemp -d /tmp/home.XXXXXX"):match "[^\n]+" end)
  teardown(function() os.execute("rm -rf " .. home) end)

  -- The page at `path` as a headless browser has it; with a home of its own, as users may have none that can be written to, and
  -- folders for passing files too long for a socket's name.
  local function seen_by_browser(options)
    return helper.run(("timeout 60 chromium --headless --no-sandbox --disable-gpu %s --dump-dom file://%s 2>/dev/null")
      :format(options, path), ("HOME=%s TMPDIR=%s"):format(home, home))
  end

  -- Adds a script to the page, and reads what it writes into the element "answer" of a headless browser. Phone width, as
  -- browsers go no narrower than 500 pixels, is that of a frame.
  local function browse(script)
    local text = read():gsub("</body>", function()
      return "<p id=answer></p><script>const section = document.querySelector('.player');\n"
        .. "const press = key => section.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));\n"
        .. "const line = tr => [...tr.children].map(td => td.textContent).join(' | ');\n"
        .. "const cells = () => [...section.querySelectorAll('tbody tr')].map(line);\n"
        .. "const answer = x => { document.getElementById('answer').textContent = x; };\n{" .. script .. "}</script></body>"
    end)
    local file <close> = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    return assert(seen_by_browser(""):match '<p id="answer">(.-)</p>', "the browser gave no answer")
  end

  it("has the steps of P:trace", function()
    local text = page{{tiles = P, tiling = {q = 4, k = 5, merge = "online"}, rows = {7}}}
    local t = P:trace(7, {q = 4, k = 5, merge = "online"})
    local data = text:match '<script type="application/json">(.-)</script>'
    assert.equal(1, select(2, data:gsub('"row":7', "")))
    assert.equal(2, select(2, data:gsub('"row":0', "")))
    for _, step in ipairs(t) do
      if step.max then assert.is_truthy(data:find(('"m":"%.4g"'):format(step.max), 1, true)) end
    end
    assert.is_truthy(data:find(('"lse":"%.4g"'):format(t.lse), 1, true))
    assert.is_truthy(text:find("<noscript><pre", 1, true))
  end)

  it("goes through the schedule by keys, and ends with the row's output", function()
    if not browser then return pending "there is no chromium" end
    page{{tiles = P, tiling = {q = 4, k = 4, merge = "tree"}}}
    local t = P:trace(12, {q = 4, k = 4, merge = "tree"})
    local said = browse [[
      press("ArrowRight"); press("ArrowRight");
      const two = cells().length;
      press("ArrowRight");
      const one = cells().join("; ");
      press("End");
      const end = section.textContent.includes("step 5 of 5");
      const top = cells().join("; ");
      press("ArrowUp"); press("Home"); press("ArrowLeft");
      const row = section.querySelector(".said").textContent;
      press(" ");
      const playing = section.textContent.includes("stop");
      answer([two, one, end, top, row, playing].join("~"));
    ]]
    local parts = {}
    for part in (said .. "~"):gmatch "(.-)~" do parts[#parts + 1] = part end
    assert.equal("2", parts[1])
    assert.matches("^%(Σ1 ⋆ Σ2%) | [^;]*$", parts[2]) -- one summary, and no other on the stack
    assert.equal("true", parts[3])
    assert.is_truthy(parts[4]:find(("| %.4g | %.4g |"):format(t[5].max, t[5].norm), 1, true), parts[4])
    assert.matches("^Row 8, step 0 of 5", parts[5])
    assert.equal("true", parts[6])
  end)

  it("fits a phone, and changes with the reader's colours", function()
    if not browser then return pending "there is no chromium" end
    page{{tiles = P, tiling = {q = 4, k = 4}}, {plot = "matrix", X}, P:verify{}}
    local inner = path:gsub("%.html$", "-inner.html")
    os.rename(path, inner)
    local file <close> = assert(io.open(path, "w"))
    file:write(('<iframe id=f src="%s" style="width:390px;height:800px"></iframe>'):format(inner:match "[^/]+$"), [[
      <p id=answer></p>
      <script>document.getElementById("f").onload = e => {
        const root = e.target.contentDocument.documentElement, colour = getComputedStyle(root.querySelector("body")).backgroundColor;
        document.getElementById("answer").textContent = root.scrollWidth + " " + colour;
      }</script>]])
    file:close()
    local seen = {}
    for _, scheme in ipairs{0, 1} do
      local dom = seen_by_browser("--allow-file-access-from-files --virtual-time-budget=5000 --blink-settings=preferredColorScheme="
        .. scheme)
      local width, colour = dom:match '<p id="answer">(%d+) (.-)</p>'
      assert(width, dom)
      assert.is_true(tonumber(width) <= 390)
      seen[scheme] = colour
    end
    os.remove(inner)
    assert.not_equal(seen[0], seen[1])
  end)
end)
