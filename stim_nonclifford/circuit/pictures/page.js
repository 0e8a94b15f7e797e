"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const state = { tick: 0, measure: "wrong", all: false, set: -1 };
  const last = data.ticks.length - 1;
  const UNIT = 60;
  // Cividis, which looks the same with all common kinds of colour vision, without its darkest and lightest ends.
  const COLOURS = [[0, 44, 108], [53, 70, 107], [87, 93, 109], [112, 113, 115], [138, 134, 120], [166, 157, 117], [197, 183, 104], [231, 211, 80], [255, 233, 69]];

  function make(name, attributes, parent, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  }
  function element(name, parent, text) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }
  function colour(part) {
    const at = Math.min(1, Math.max(0, part)) * (COLOURS.length - 1);
    const k = Math.min(COLOURS.length - 2, Math.floor(at));
    return `rgb(${COLOURS[k].map((low, c) => Math.round(low + (COLOURS[k + 1][c] - low) * (at - k))).join(",")})`;
  }
  function percent(share) {
    if (!(share > 0)) return "0 %";
    const value = 100 * share;
    return `${value >= 10 ? value.toFixed(1) : value >= 0.01 ? value.toPrecision(2) : value.toExponential(1)} %`;
  }

  // Noise places are [tick, targets, share of the logical error, share of the discards, text].
  const shareOf = (place) => (state.measure === "wrong" ? place[2] : place[3]);
  const placesAt = data.ticks.map(() => []);
  for (const place of data.places) placesAt[place[0]].push(place);
  const sums = { wrong: data.ticks.map(() => 0), discarded: data.ticks.map(() => 0) };
  for (const [tick, , wrong, discarded] of data.places) {
    sums.wrong[tick] += wrong;
    sums.discarded[tick] += discarded;
  }
  const qubitSums = { wrong: new Map(), discarded: new Map() };
  for (const [, targets, wrong, discarded] of data.places) {
    for (const qubit of targets) {
      qubitSums.wrong.set(qubit, (qubitSums.wrong.get(qubit) || 0) + wrong / targets.length);
      qubitSums.discarded.set(qubit, (qubitSums.discarded.get(qubit) || 0) + discarded / targets.length);
    }
  }
  function most() {
    if (state.all) return Math.max(0, ...qubitSums[state.measure].values());
    let found = 0;
    for (const place of data.places) found = Math.max(found, shareOf(place));
    return found;
  }
  const shade = (share, top) => (top > 0 ? Math.sqrt(Math.max(0, share) / top) : 0);

  // Places of qubits, with room for lines between neighbours.
  const spots = new Map();
  const xs = data.qubits.map((qubit) => qubit[1]), ys = data.qubits.map((qubit) => qubit[2]);
  let gap = Infinity;
  for (let i = 0; i < data.qubits.length; i++)
    for (let j = 0; j < i; j++) gap = Math.min(gap, Math.hypot(xs[i] - xs[j], ys[i] - ys[j]));
  const scale = gap > 0 && gap < Infinity ? UNIT * 1.25 / gap : UNIT;
  const left = Math.min(...xs, 0 + (xs[0] || 0)), top = Math.min(...ys, 0 + (ys[0] || 0));
  for (const [qubit, x, y] of data.qubits) spots.set(qubit, [(x - left) * scale + UNIT, (y - top) * scale + UNIT]);
  const wide = Math.max(...[...spots.values()].map((spot) => spot[0]), UNIT) + UNIT;
  const high = Math.max(...[...spots.values()].map((spot) => spot[1]), UNIT) + UNIT;

  function middle(qubits) {
    const points = qubits.map((qubit) => spots.get(qubit));
    return [points.reduce((sum, p) => sum + p[0], 0) / points.length, points.reduce((sum, p) => sum + p[1], 0) / points.length];
  }
  function connect(qubits, attributes, parent) {
    if (qubits.length < 2) return;
    const [cx, cy] = middle(qubits);
    const path = qubits.length === 2
      ? `M${spots.get(qubits[0])}L${spots.get(qubits[1])}`
      : qubits.map((qubit) => `M${cx},${cy}L${spots.get(qubit)}`).join("");
    return make("path", { d: path, ...attributes }, parent);
  }

  function drawHalo(svg, qubits, share, scaleTop, text) {
    const part = shade(share, scaleTop);
    const group = make("g", { class: "noise", "data-share": share, "data-qubits": qubits.join(" ") }, svg);
    if (qubits.length > 1) connect(qubits, { stroke: colour(part), "stroke-width": 8 + 12 * part, "stroke-linecap": "round", fill: "none" }, group);
    for (const qubit of qubits) {
      const [x, y] = spots.get(qubit);
      make("circle", { cx: x, cy: y, r: 20 + 8 * part, fill: colour(part), class: "halo" }, group);
    }
    make("title", {}, group, text);
  }
  function drawSymbol(svg, symbol, x, y) {
    if (symbol === ".") return make("circle", { cx: x, cy: y, r: 6, class: "dot" }, svg);
    if (symbol === "+") {
      make("circle", { cx: x, cy: y, r: 11, class: "gate" }, svg);
      return make("path", { d: `M${x - 11},${y}h22M${x},${y - 11}v22`, class: "wire" }, svg);
    }
    if (symbol === "x") return make("path", { d: `M${x - 8},${y - 8}l16,16m-16,0l16,-16`, class: "wire" }, svg);
    make("rect", { x: x - 15, y: y - 13, width: 30, height: 26, rx: 3, class: "gate" }, svg);
    const size = Math.min(16, 28 / (0.62 * Math.max(1, symbol.length)));
    make("text", { x: x, y: y, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" }, svg, symbol);
  }

  function drawLayout() {
    const svg = byId("layout");
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    svg.setAttribute("aria-label", state.all ? "Shares of the qubits over all ticks" : `The circuit at tick ${state.tick}`);
    const scaleTop = most();
    for (const [x, y] of spots.values()) make("circle", { cx: x, cy: y, r: 15, class: "qubit" }, svg);
    if (state.all) {
      for (const [qubit, share] of qubitSums[state.measure]) if (spots.has(qubit)) drawHalo(svg, [qubit], share, scaleTop, `qubit ${qubit}: ${percent(share)}`);
    } else {
      // The largest on top: several places may lie on one qubit.
      const shown = placesAt[state.tick].filter((place) => place[1].length && place[1].every((qubit) => spots.has(qubit)));
      shown.sort((a, b) => shareOf(a) - shareOf(b));
      if (scaleTop > 0) for (const place of shown) drawHalo(svg, place[1], shareOf(place), scaleTop, `${place[4]}: ${percent(shareOf(place))}`);
      for (const [name, qubits, symbols, condition] of data.ticks[state.tick]) {
        const group = make("g", { class: "op" }, svg);
        connect(qubits, { class: "wire" }, group);
        qubits.forEach((qubit, k) => drawSymbol(group, symbols[k], ...spots.get(qubit)));
        make("title", {}, group, `${name} ${qubits.join(" ")}${condition ? ` if ${condition}` : ""}`);
        if (condition) {
          const [x, y] = spots.get(qubits[0]);
          make("text", { x: x, y: y - 18, "font-size": 9, "text-anchor": "middle" }, group, `if ${condition}`);
        }
      }
    }
    for (const [qubit, [x, y]] of spots) make("text", { x: x + 19, y: y + 25, "font-size": 11, class: "faint" }, svg, String(qubit));
    drawFrame(svg);
  }
  function drawFrame(svg) {
    if (state.set < 0 || state.all) return;
    const set = data.sets[state.set];
    for (const fault of set.faults) {
      if (fault.tick !== state.tick) continue;
      for (const qubit of fault.targets) {
        const [x, y] = spots.get(qubit);
        make("circle", { cx: x, cy: y, r: 26, class: "fault", "stroke-dasharray": "7 4" }, svg);
      }
    }
    for (const [letter, qubit] of set.paulis[state.tick] || []) {
      const [x, y] = spots.get(qubit);
      make("circle", { cx: x - 20, cy: y - 18, r: 10, class: `badge ${letter}` }, svg);
      make("text", { x: x - 20, y: y - 18, "font-size": 13, "text-anchor": "middle", "dominant-baseline": "central", class: "badgetext" }, svg, letter);
    }
  }

  const STRIP = { width: 900, bars: 70, widths: 46, margin: 46 };
  const column = () => (STRIP.width - STRIP.margin) / (last + 1);
  function drawStrip() {
    const svg = byId("strip");
    const hasShares = data.places.some((place) => place[2] > 0 || place[3] > 0);
    const bars = hasShares ? STRIP.bars : 0;
    const height = bars + STRIP.widths + 22;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${STRIP.width} ${height}`);
    const values = sums[state.measure], highest = Math.max(...values);
    if (hasShares) {
      make("text", { x: 0, y: 12, "font-size": 11, class: "faint" }, svg, percent(highest));
      make("text", { x: STRIP.margin + 3, y: 12, "font-size": 11, class: "faint" }, svg, "share of each tick");
      values.forEach((value, tick) => {
        const size = highest > 0 ? (bars - 4) * value / highest : 0;
        const bar = make("rect", { x: STRIP.margin + tick * column(), y: bars - size, width: Math.max(0.8, column() - 0.8), height: size, fill: colour(0.15 + 0.85 * (highest > 0 ? value / highest : 0)), class: "halo bar" }, svg);
        make("title", {}, bar, `tick ${tick}: ${percent(value)}`);
      });
    }
    const floor = bars + STRIP.widths + 4, peak = Math.max(1, ...data.widths);
    const y = (width) => floor - (STRIP.widths - 8) * width / peak;
    let path = `M${STRIP.margin},${floor}`;
    data.widths.forEach((width, tick) => { path += `L${STRIP.margin + tick * column()},${y(width)}h${column()}`; });
    make("path", { d: path, class: "width" }, svg);
    make("text", { x: 0, y: floor - STRIP.widths + 14, "font-size": 11, class: "widthtext" }, svg, `width ${Math.max(0, ...data.widths)}`);
    make("text", { x: 0, y: floor, "font-size": 11, class: "widthtext" }, svg, "0");
    make("text", { x: STRIP.margin + 3, y: floor - STRIP.widths + 14, "font-size": 11, class: "widthtext" }, svg, "of the vector");
    if (state.set >= 0) for (const fault of data.sets[state.set].faults) {
      const x = STRIP.margin + (fault.tick + 0.5) * column();
      make("path", { d: `M${x},${height - 14}l5,11h-10z`, class: "mark" }, svg);
    }
    make("rect", { x: STRIP.margin + state.tick * column() - 1, y: 1, width: column() + 2, height: height - 16, class: "now" }, svg);
  }
  function drawLegend() {
    const svg = byId("legend"), scaleTop = most();
    svg.replaceChildren();
    svg.setAttribute("viewBox", "0 0 260 34");
    if (!(scaleTop > 0)) return;
    for (let k = 0; k < 52; k++) make("rect", { x: 5 * k, y: 0, width: 5.2, height: 14, fill: colour(k / 51) }, svg);
    [0, 0.25, 0.5, 0.75, 1].forEach((part) => make("text", { x: 260 * part, y: 28, "font-size": 11, "text-anchor": part === 0 ? "start" : part === 1 ? "end" : "middle" }, svg, percent(scaleTop * part * part)));
  }

  function writeDetails() {
    const box = byId("detail-text");
    box.replaceChildren();
    byId("details").querySelector("h2").textContent = state.set >= 0 ? `Fault set ${state.set + 1}` : `At tick ${state.tick}`;
    if (state.set >= 0) {
      const set = data.sets[state.set];
      element("p", box, set.summary);
      const list = element("ul", box);
      for (const fault of set.faults) element("li", list, fault.text);
      element("p", box, set.flips);
      return;
    }
    const width = data.widths[state.tick];
    element("p", box, `Width ${width}: the vector has 2^${width} = ${2 ** width} coefficients; ${data.costs[state.tick].toLocaleString("en")} coefficient operations in this tick.`);
    const found = [...placesAt[state.tick]].sort((a, b) => shareOf(b) - shareOf(a)).filter((place) => shareOf(place) > 0);
    if (!found.length) return;
    element("p", box, `${percent(sums[state.measure][state.tick])} in all, most of it from:`);
    const list = element("ul", box);
    for (const place of found.slice(0, 8)) element("li", list, `${place[4]}: ${percent(shareOf(place))}`);
  }
  function draw() {
    byId("slider").value = state.tick;
    byId("tick").textContent = `tick ${state.tick} of ${last}`;
    byId("slider").setAttribute("aria-valuetext", `tick ${state.tick}`);
    document.querySelectorAll("#set-list button").forEach((button, k) => button.setAttribute("aria-pressed", String(k === state.set)));
    drawStrip();
    drawLayout();
    drawLegend();
    writeDetails();
  }
  function go(tick) {
    state.all = byId("all").checked = false;
    state.tick = Math.min(last, Math.max(0, tick));
    draw();
  }
  function choose(k) {
    if (k >= data.sets.length) return;
    state.set = k === state.set ? -1 : k;
    if (state.set >= 0) {
      state.all = byId("all").checked = false;
      state.tick = Math.min(...data.sets[k].faults.map((fault) => fault.tick));
    }
    draw();
  }

  for (const [name, value] of data.rates) {
    const row = element("div", byId("rates"));
    element("dt", row, name);
    element("dd", row, value);
  }
  if (data.remark) {
    byId("remark").textContent = data.remark;
    byId("remark").hidden = false;
  }
  byId("measures").hidden = !data.places.some((place) => place[2] > 0 || place[3] > 0);
  byId("sets").hidden = !data.sets.length;
  byId("sets-hint").textContent = data.hint;
  data.sets.forEach((set, k) => {
    const button = element("button", element("li", byId("set-list")), set.label);
    button.addEventListener("click", () => choose(k));
  });
  byId("slider").max = last;
  byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  byId("back").addEventListener("click", () => go(state.tick - 1));
  byId("forth").addEventListener("click", () => go(state.tick + 1));
  byId("all").addEventListener("change", (event) => { state.all = event.target.checked; draw(); });
  document.querySelectorAll("input[name=measure]").forEach((input) => input.addEventListener("change", () => { state.measure = input.value; draw(); }));
  byId("strip").addEventListener("click", (event) => {
    const box = byId("strip").getBoundingClientRect();
    const x = (event.clientX - box.left) * STRIP.width / box.width;
    go(Math.floor((x - STRIP.margin) / column()));
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.type === "radio") return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    if (event.key in steps) go(state.tick + steps[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(last);
    else if (event.key === "Escape") { state.set = -1; draw(); }
    else if (event.key === "a") byId("all").click();
    else if (event.key >= "1" && event.key <= "9") choose(Number(event.key) - 1);
    else return;
    event.preventDefault();
  });
  // A page opens where most of the logical error is.
  if (Math.max(...sums.wrong) > 0) state.tick = sums.wrong.indexOf(Math.max(...sums.wrong));
  draw();
})();
