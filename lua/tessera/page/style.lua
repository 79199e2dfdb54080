--- style.lua -- how a page looks: in light and dark, on a desk and on a phone.

return [[
:root {
  --paper: #fdfdfc; --ink: #1b1b1b; --faint: #5c5c5c; --line: #c8c8c8; --panel: #f3f3f1; --mark: #c24e00;
  --empty: #dedede; --partial: #8cc8ee; --full: #0072b2; --on-full: #fff; --on-partial: #111;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181a; --ink: #e9e9e6; --faint: #a9a9a5; --line: #4a4d50; --panel: #1f2225; --mark: #ff9a4d;
    --empty: #3a3d40; --partial: #3f87b5; --full: #8fd0ff; --on-full: #06202f; --on-partial: #fff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
p { max-width: 40rem; overflow-wrap: anywhere; }
pre, .wide { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; }
pre { font: .8rem/1.25 "DejaVu Sans Mono", ui-monospace, monospace; }
.wide { padding: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .5rem .75rem; color: var(--faint); }
th, td { text-align: left; padding: .3rem .75rem; border-top: 1px solid var(--line); white-space: nowrap; }
.number { text-align: right; }
figure { margin: 1rem 0; }
figure > svg { display: block; width: 100%; max-width: 42rem; height: auto; margin: 0 auto; }
figure image { image-rendering: pixelated; }
.player { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; margin: 1rem 0; }
.player:focus-visible, button:focus-visible, pre:focus-visible, .wide:focus-visible { outline: 3px solid var(--mark); outline-offset: 1px; }
.player h3 { margin: 0 0 .5rem; font-size: 1rem; overflow-wrap: anywhere; }
.player .parts { display: flex; flex-wrap: wrap; gap: 1rem; }
.player .map { flex: 1 1 16rem; max-width: 24rem; min-width: 0; }
.player .state { flex: 1 1 18rem; min-width: 0; }
.player svg { width: 100%; height: auto; display: block; max-height: 24rem; }
.player svg text { font: 10px "DejaVu Sans", sans-serif; text-anchor: middle; dominant-baseline: central; }
.player .axis { fill: var(--faint); }
.player .empty { fill: var(--empty); } .player .partial { fill: var(--partial); } .player .full { fill: var(--full); }
.player .on-partial { fill: var(--on-partial); } .player .on-full { fill: var(--on-full); }
.player .later { opacity: .35; }
.player .row { cursor: pointer; }
.player .here { fill: none; stroke: var(--mark); stroke-width: 3; }
.player .band { fill: none; stroke: var(--ink); stroke-width: 1; stroke-dasharray: 3 2; }
.player .buttons { display: flex; flex-wrap: wrap; gap: .4rem; margin: .75rem 0 0; align-items: center; }
.player button {
  font: inherit; min-width: 2.75rem; min-height: 2.75rem; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: 6px; cursor: pointer;
}
.player input { flex: 1 1 8rem; min-width: 6rem; accent-color: var(--mark); }
.player table { font-size: .85rem; table-layout: fixed; }
.player td, .player th { padding: .25rem .4rem; white-space: normal; overflow-wrap: anywhere; vertical-align: top; }
.player th:first-child { width: 28%; } .player .m, .player .l { width: 22%; }
.player .top td { border-left: 3px solid var(--mark); border-right: 0; }
.player .top td + td { border-left: 0; }
.player .said { min-height: 3em; margin: 0 0 .5rem; }
.player .legend, .player .keys { color: var(--faint); font-size: .85rem; margin: .5rem 0 0; }
.player .swatch {
  display: inline-block; width: 1em; height: 1em; vertical-align: -.15em; margin: 0 .25em 0 .75em; border: 1px solid var(--line);
}
.player .swatch:first-child { margin-left: 0; }
]]
