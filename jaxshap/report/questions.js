// Two rows beside each other: what moves the output of one away from that of the other

function differences() { // of the rows, with the bound that both errors leave; the largest first
  const { row, other, output } = state, values = report.values[output], halves = report.halves[output];
  const plus = (a, b) => (a === null || b === null ? null : a + b);
  return report.features.map((_, i) => ({
    feature: i,
    values: [values[row][i], values[other][i]],
    halves: [halves[row][i], halves[other][i]],
    apart: plus(values[row][i], values[other][i] === null ? null : -values[other][i]),
    bound: plus(halves[row][i], halves[other][i]),
  })).sort((a, b) => Math.abs(b.apart) - Math.abs(a.apart));
}

function drawComparison() {
  const { row, other } = state;
  at("comparison").hidden = other === null;
  at("other").value = other ?? "";
  if (other === null) return;
  const what = report.outputs === null ? "Output" : `Output “${report.outputs[state.output]}”`;
  const [here, there] = [outputOf(row), outputOf(other)], bases = [row, other].map((r) => report.base[state.output][r]);
  const baseApart = bases[0] - bases[1], scale = Math.max(...bases.map(Math.abs), Math.abs(here), Math.abs(there));
  const fromBase = Math.abs(baseApart) > 1e-5 * scale ? `, ${number(baseApart, 3)} of it between their base values` : "";
  const total = `${here > there ? "+" : ""}${number(here - there, 3)}`;
  at("comparison-headline").textContent = row === other ? "This is the row itself: pick another one."
    : `${what} of row ${row} less that of row ${other}: ${number(here)} less ${number(there)}, a difference of ${total}${fromBase}`;
  const all = differences(), kept = state.most ? all.slice(0, state.most) : all;
  at("bounded").hidden = !all.some((line) => line.bound);
  drawPairs(kept);
  drawPairsTable(all);
}

function drawPairs(kept) { // two bars for each feature, from zero: the row above, the other one below
  const { row, other } = state, svg = at("pairs"), plain = alike(kept.map((line) => line.apart));
  const was = (i) => (report.data === null ? "" : ` = ${valueOf(i, row, 3)} | ${valueOf(i, other, 3)}`);
  const lines = kept.map(({ feature, apart, bound }) => ({ name: nameOf(feature), tail: was(feature), text: signed(apart, bound, plain) }));
  const ends = kept.flatMap(({ values, halves }) => values.flatMap((value, k) => [value - (halves[k] ?? 0), value + (halves[k] ?? 0)]));
  const low = Math.min(0, ...ends), high = Math.max(0, ...ends);
  const { x, top } = picture(svg, lines, low, high, 30);
  kept.forEach(({ values, halves }, place) => values.forEach((value, k) => {
    if (value === null) return;
    const y = top(place) + 3 + 12 * k;
    bar(svg, x(0), x(value), y, 12, value);
    if (k) svg.lastChild.setAttribute("fill-opacity", 0.5);
    whisker(svg, x, value, halves[k], y + 6);
  }));
  const spoken = lines.map((line) => `${line.name}${line.tail}: ${line.text}`).join(", ");
  svg.setAttribute("aria-label", `Differences of Shapley values, row ${row} less row ${other}: ${spoken}`);
}

function drawPairsTable(all) {
  const { row, other } = state, table = at("pair-numbers"), hasData = report.data !== null;
  const own = hasData ? [`its value, row ${row}`, `row ${other}`] : [];
  const plain = alike(all.flatMap((line) => line.values)), plainApart = alike(all.map((line) => line.apart));
  table.replaceChildren();
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  for (const column of ["feature", "difference" + (all.some((line) => line.bound) ? " (± at most)" : ""), `Shapley value, row ${row}`, `row ${other}`, ...own]) add(head, "th", { scope: "col" }, column);
  for (const line of all) {
    const cells = add(body, "tr");
    add(cells, "td", {}, report.features[line.feature]);
    add(cells, "td", {}, signed(line.apart, line.bound, plainApart));
    line.values.forEach((value, k) => add(cells, "td", {}, signed(value, line.halves[k], plain)));
    if (hasData) for (const r of [row, other]) add(cells, "td", {}, valueOf(line.feature, r, 6));
  }
}

// What if a feature had another value: along curves that the model was asked for beforehand

function stepsOf(row) { // the points of the curve with the row itself among them, from low to high
  const asked = report.what_if, { feature, grid, curves } = asked.moves[state.moved], own = report.data[row][feature];
  const steps = grid.map((value, k) => ({ value, output: curves[state.output][row][k], own: value === own }));
  if (own !== null && !steps.some((step) => step.own)) steps.push({ value: own, output: asked.own[state.output][row], own: true });
  return steps.sort((a, b) => a.value - b.value);
}

const hasCurves = (row) => report.what_if !== null && row < report.what_if.own[0].length;

function moveFeature(move) { // another one, from the row's own value of it
  [state.moved, state.step] = [move, null];
  drawWhatIf();
}

function moveTo(step) {
  state.step = step;
  drawWhatIf();
}

function drawWhatIf() {
  if (report.what_if === null) return;
  const { row } = state, known = hasCurves(row), last = report.what_if.own[0].length - 1;
  at("what-if-here").hidden = !known;
  at("what-if-elsewhere").hidden = known;
  at("what-if-elsewhere").textContent = `The model was asked about rows 0 to ${last} alone: pick one of them to move its features.`;
  if (!known) return;
  const feature = report.what_if.moves[state.moved].feature, steps = stepsOf(row);
  const chosen = steps[state.step ?? steps.findIndex((step) => step.own)] ?? { value: null, own: true }; // missing in the row
  const now = report.what_if.own[state.output][row], what = report.outputs === null ? "output" : `output “${report.outputs[state.output]}”`;
  const word = shownAs(feature, chosen.value);
  at("moved").value = state.moved;
  at("step").max = steps.length - 1;
  at("step").value = Math.max(0, steps.indexOf(chosen));
  at("step").setAttribute("aria-valuetext", word);
  at("step-value").textContent = word;
  at("own-value").disabled = chosen.own;
  const apart = chosen.output - now, change = `${apart > 0 ? "+" : ""}${number(apart, 3)}`;
  at("what-if-headline").textContent = chosen.own ? `Row ${row} as it is, ${nameOf(feature)}${tailOf(feature, row)}: ${what} ${number(now)}`
    : `Row ${row} with ${nameOf(feature)} = ${word} in place of ${valueOf(feature, row)}: ${what} ${number(chosen.output)} in place of ${number(now)} (${change})`;
  const draw = report.texts[feature] === undefined ? drawCurve : drawLevels;
  draw(at("curve"), steps, chosen, now);
  at("curve").setAttribute("aria-label", `${what} as ${nameOf(feature)} moves: ${steps.map((s) => `${shownAs(feature, s.value)}: ${number(s.output, 3)}`).join(", ")}`);
}

function drawLevels(svg, steps, chosen, now) { // a line for each word
  const feature = report.what_if.moves[state.moved].feature, outputs = steps.map((step) => step.output);
  const plain = alike(outputs), low = Math.min(...outputs, now), high = Math.max(...outputs, now), margin = 0.05 * (high - low || 1);
  const lines = steps.map((step) => ({ name: shownAs(feature, step.value) + (step.own ? " (as it is)" : ""), text: plain(step.output) }));
  const { x, top, bottom } = picture(svg, lines, low - margin, high + margin, 22);
  svg.prepend(add(svg, "line", { x1: x(now), x2: x(now), y1: 0, y2: bottom, stroke: "var(--soft)", "stroke-dasharray": "4 3" }));
  steps.forEach((step, place) => {
    bar(svg, x(now), x(step.output), top(place) + 9, 4, step.output - now);
    drawPoint(svg, x(step.output), top(place) + 11, step, step === chosen);
  });
}

function drawPoint(svg, cx, cy, step, chosen) { // a ring where the row is, a large dot where it is moved to
  if (step.own) add(svg, "circle", { cx, cy, r: 8, fill: "none", stroke: "var(--ink)", "stroke-width": 1.8 });
  add(svg, "circle", { cx, cy, r: chosen ? 6 : 2.5, fill: chosen ? "var(--link)" : "var(--ink)" });
}

function drawCurve(svg, steps, chosen, now) {
  svg.replaceChildren();
  const width = svg.parentNode.clientWidth, height = 260, outputs = steps.map((step) => step.output);
  const reach = { low: Math.min(...outputs, now), high: Math.max(...outputs, now) }, rise = reach.high - reach.low || 1;
  const marks = ticks(reach.low - 0.05 * rise, reach.high + 0.05 * rise, 6), left = Math.max(...marks.map((mark) => widthOf(number(mark)))) + 10;
  const [first, last] = [steps[0].value, steps.at(-1).value], right = width - 14;
  const x = (value) => left + 10 + ((value - first) / (last - first || 1)) * (right - left - 10);
  const y = (output) => 10 + (1 - (output - reach.low + 0.05 * rise) / (1.1 * rise)) * (height - 20);
  svg.setAttribute("height", height + 40);
  for (const mark of marks) {
    add(svg, "line", { x1: left, x2: right, y1: y(mark), y2: y(mark), stroke: "var(--grid)" });
    add(svg, "text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end", class: "tick" }, number(mark));
  }
  for (const mark of ticks(first, last, (right - left) / 90)) add(svg, "text", { x: x(mark), y: height + 16, "text-anchor": "middle", class: "tick" }, number(mark));
  const name = nameOf(report.what_if.moves[state.moved].feature);
  add(add(svg, "text", { x: (left + right) / 2, y: height + 36, "text-anchor": "middle" }, fitted(name, right - left)), "title", {}, name);
  add(svg, "line", { x1: left, x2: right, y1: y(now), y2: y(now), stroke: "var(--soft)", "stroke-dasharray": "4 3" });
  const d = steps.map((step, k) => `${k ? "L" : "M"}${x(step.value).toFixed(1)} ${y(step.output).toFixed(1)}`).join("");
  add(svg, "path", { d, fill: "none", stroke: "#0072b2", "stroke-width": 2 });
  for (const step of steps) drawPoint(svg, x(step.value), y(step.output), step, step === chosen);
}

function stepAt(event) { // the point nearest to a click
  const circles = [...at("curve").querySelectorAll("circle[r='2.5'], circle[r='6']")];
  const far = circles.map((circle) => {
    const box = circle.getBoundingClientRect();
    return Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
  });
  return far.indexOf(Math.min(...far));
}
