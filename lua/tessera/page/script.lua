--- script.lua -- the tile player's script: it reads a schedule from the page, and steps through it.

return [==[
"use strict";
for (const section of document.querySelectorAll(".player")) player(section);

function player(section) {
  const data = JSON.parse(section.querySelector("script").textContent);
  const shown = data.rows.map((row, n) => row.row ? n : -1).filter(n => n >= 0);
  const size = 24, left = 44, top = 20;
  let tile = shown[shown.length - 1], at = 0, timer = null;

  // Elements ------------------------------------------------------------------------------------
  function make(parent, name, attributes, text) {
    const space = parent.namespaceURI, svg = name === "svg" || space.endsWith("svg");
    const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    return parent.appendChild(e);
  }
  const parts = make(section, "div", {class: "parts"});
  const map = make(parts, "div", {class: "map"});
  const state = make(parts, "div", {class: "state"});
  const svg = make(map, "svg", {role: "img", "aria-label": "map of tiles",
    viewBox: `0 0 ${left + data.blocks.length * size + 2} ${top + data.rows.length * size + 2}`});
  const legend = make(map, "p", {class: "legend"});
  for (const name of ["full", "partial", "empty"]) {
    make(legend, "span", {class: "swatch", style: `background: var(--${name})`});
    legend.append(name);
  }
  legend.append(" — a number is the order of the visit");
  const said = make(state, "p", {class: "said", "aria-live": "polite"});
  const table = make(make(state, "div", {}), "table", {});
  const result = make(state, "p", {class: "said"});
  const buttons = make(section, "div", {class: "buttons"});
  function button(text, label, action) {
    const e = make(buttons, "button", {type: "button", "aria-label": label, title: label}, text);
    e.addEventListener("click", action);
    return e;
  }
  button("|◀", "first step (Home)", () => go(0));
  button("◀", "step back (←)", () => go(at - 1));
  const playing = button("play", "play (Space)", play);
  button("▶", "next step (→)", () => go(at + 1));
  button("▶|", "last step (End)", () => go(steps().length));
  button("▲", "tile of queries above (↑)", () => turn(-1));
  button("▼", "tile of queries below (↓)", () => turn(1));
  const slider = make(buttons, "input", {type: "range", min: 0, "aria-label": "step"});
  slider.addEventListener("input", () => go(Number(slider.value)));
  make(section, "p", {class: "keys"}, "Keys: ← → a step, ↑ ↓ another tile of queries, Home, End, Space plays.");

  // The schedule --------------------------------------------------------------------------------
  function steps() { return data.rows[tile].steps; }

  // The stack after the first `count` steps: a block is pushed, ⋆ takes two and puts one.
  function stackAfter(count) {
    const stack = [];
    for (const step of steps().slice(0, count)) {
      let name = step.block ? "Σ" + step.block : "";
      if (!step.block) {
        const right = stack.pop(), before = stack.pop();
        name = `(${before.name} ⋆ ${right.name})`;
      }
      stack.push({name, step});
    }
    return stack;
  }

  function visitedBefore(count) {
    return new Set(steps().slice(0, count).map(step => step.block).filter(Boolean));
  }

  // Drawing -------------------------------------------------------------------------------------
  function drawMap() {
    svg.replaceChildren();
    const visited = visitedBefore(at), now = at > 0 ? steps()[at - 1].block : 0;
    data.blocks.forEach((keys, b) => {
      if (data.blocks.length <= 16 || b % 8 === 0)
        make(svg, "text", {x: left + (b + .5) * size, y: top / 2, class: "axis"}, "Σ" + (b + 1));
    });
    data.rows.forEach((row, r) => {
      const group = make(svg, "g", {class: row.row ? "row" : ""});
      if (row.row) group.addEventListener("click", () => { tile = r; go(Math.min(at, steps().length)); });
      if (data.rows.length <= 16 || r % 8 === 0)
        make(group, "text", {x: left / 2, y: top + (r + .5) * size, class: "axis"}, `${row.first}–${row.last}`);
      row.content.forEach((content, b) => {
        const later = r === tile && content !== "empty" && !visited.has(b + 1) ? " later" : "";
        const x = left + b * size, y = top + r * size;
        make(group, "rect", {x: x + 1, y: y + 1, width: size - 2, height: size - 2, class: content + later});
        if (row.visit[b]) make(group, "text", {x: x + size / 2, y: y + size / 2, class: later ? "axis" : "on-" + content}, row.visit[b]);
      });
    });
    make(svg, "rect", {x: left, y: top + tile * size, width: data.blocks.length * size, height: size, class: "band"});
    if (!now) return;
    make(svg, "rect", {x: left + (now - 1) * size + 1, y: top + tile * size + 1, width: size - 2, height: size - 2, class: "here"});
  }

  function sentence() {
    const row = data.rows[tile], step = at > 0 ? steps()[at - 1] : null;
    const where = `Row ${row.row}, step ${at} of ${steps().length}: `;
    if (!step) return where + "nothing is on the stack yet.";
    if (step.block) {
      const keys = `block ${step.block} (keys ${data.blocks[step.block - 1]})`;
      return where + (step.m === undefined ? `${keys} has no key for this row: its summary is ⊥.` : `the summary of ${keys} is pushed.`);
    }
    return where + `the top two are merged; their ℓ and z are multiplied by ${step.left} and ${step.right}.`;
  }

  function drawStack() {
    table.replaceChildren();
    const head = make(make(table, "thead", {}), "tr", {});
    [["on the stack", ""], ["m", "m"], ["ℓ", "l"], ["z", ""]].forEach(([text, name]) => make(head, "th", {class: name}, text));
    const body = make(table, "tbody", {}), stack = stackAfter(at);
    if (stack.length === 0) make(make(body, "tr", {}), "td", {colspan: 4}, "empty");
    stack.reverse().forEach(({name, step}, n) => {
      const line = make(body, "tr", {class: n === 0 ? "top" : ""});
      make(line, "td", {}, name);
      if (step.m === undefined) make(line, "td", {colspan: 3}, "⊥");
      else for (const text of [step.m, step.l, step.z]) make(line, "td", {}, text);
    });
  }

  function draw() {
    const row = data.rows[tile], step = at > 0 ? steps()[at - 1] : null;
    slider.max = steps().length;
    slider.value = at;
    drawMap();
    drawStack();
    said.textContent = sentence();
    result.textContent = at === steps().length ? `Output ${row.output}, lse ${row.lse}.`
      : step && step.o !== undefined ? `The top alone would give the output ${step.o}.` : "";
  }

  // Moving --------------------------------------------------------------------------------------
  function go(to) {
    at = Math.min(Math.max(to, 0), steps().length);
    draw();
  }

  function turn(by) {
    const place = shown.indexOf(tile) + by;
    if (place < 0 || place >= shown.length) return;
    tile = shown[place];
    go(at);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    playing.textContent = "play";
  }

  function play() {
    if (timer) return stop();
    if (at === steps().length) go(0);
    playing.textContent = "stop";
    timer = setInterval(() => { go(at + 1); if (at === steps().length) stop(); }, 700);
  }

  const keys = {
    ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), ArrowUp: () => turn(-1), ArrowDown: () => turn(1),
    Home: () => go(0), End: () => go(steps().length), " ": play,
  };
  section.addEventListener("keydown", event => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    if (event.key !== " ") stop();
    keys[event.key]();
  });
  draw();
}
]==]
