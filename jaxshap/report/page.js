"use strict";
const report = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const SVG = at("bars").namespaceURI;
const RAMP = [0, 1, 2, 3, 4, 5].map((shade) => `var(--shade${shade})`);
const COLUMNS = 12; // of features in the table of rows
const LAYERS = 8; // of dots, so that no colour covers all others
const LINES = 100; // of that table, until more are asked for
const MORE_LINES = 1000; // at a time: a browser takes seconds for many more
const numRows = report.values[0].length;
const state = { row: 0, other: null, output: report.first, moved: 0, step: null, order: "size", most: 10, column: "row", down: false, lines: LINES };

// Numbers, text and elements

function number(value, digits = 4) {
  if (value === null) return "missing";
  let text = Number(value.toPrecision(digits)).toString();
  if (text.length > digits + 6) text = value.toExponential(digits - 1);
  return text.replace("-", "−");
}

function alike(values, digits = 3) { // all with the decimals that the largest of them needs
  const most = values.reduce((found, value) => Math.max(found, Math.abs(value ?? 0)), 0);
  const decimals = most > 0 ? digits - 1 - Math.floor(Math.log10(most)) : 0;
  if (decimals > 8 || decimals < -6) return (value) => number(value, digits);
  return (value) => (value === null ? "missing" : value.toFixed(Math.max(0, decimals)).replace(/^-(?=0\.?0*$)/, "").replace("-", "−"));
}

function signed(value, error, plain) { // ± what its whisker shows, in two digits, and nothing where it is exact
  const sign = value > 0 ? "+" : "";
  if (error === 0 || value === null) return sign + plain(value);
  if (error === null) return `${sign}${number(value, 3)} ± ?`;
  const spread = error, size = Math.max(Math.abs(value), spread);
  if (size < 1e-4 || size >= 1e7) return `${sign}${number(value, 3)} ± ${number(spread, 1)}`;
  const digits = (part) => Math.floor(Math.log10(part));
  const decimals = Math.max(0, Math.min(3 - digits(size), 1 - digits(spread))); // no more than four digits of the value
  const shown = Number(spread.toFixed(decimals)) ? spread.toFixed(decimals) : number(spread, 1);
  return `${sign}${value.toFixed(decimals).replace(/^-(?=0\.?0*$)/, "")} ± ${shown}`.replace("-", "−");
}

function add(parent, name, attributes = {}, text = null) {
  const element = parent.namespaceURI === SVG ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

const pen = document.createElement("canvas").getContext("2d");
pen.font = "14px system-ui, sans-serif";
const widthOf = (text) => pen.measureText(text).width;

function fitted(text, width) { // the middle goes: names often differ at the end, where their value stands too
  if (widthOf(text) <= width) return text;
  const letters = [...text];
  for (let kept = letters.length - 1; kept > 1; kept -= 1) {
    const short = letters.slice(0, Math.floor(kept / 2)).join("") + "…" + letters.slice(letters.length - Math.ceil(kept / 2)).join("");
    if (widthOf(short) <= width) return short;
  }
  return "…";
}

function toldApart(names, rooms) { // those that fitting makes alike, without the beginning that they share
  const short = names.map((name, place) => fitted(name, rooms[place]));
  return short.map((text, place) => {
    const [first, ...others] = names.filter((_, other) => short[other] === text);
    if (!others.length) return text;
    let shared = 0;
    while (shared < first.length && others.every((name) => name[shared] === first[shared])) shared += 1;
    return fitted("…" + names[place].slice(shared), rooms[place]);
  });
}

const valueOf = (feature, row, digits = 4) => shownAs(feature, report.data[row][feature], digits);

function shownAs(feature, value, digits = 4) { // in the words that the table had, where it had any
  const size = Math.abs(value), texts = report.texts[feature];
  if (texts?.[value] !== undefined || value === null) return texts?.[value] ?? "missing";
  return size >= 10 ** digits && size < 1e9 ? value.toFixed(0).replace("-", "−") : number(value, digits); // a postal code, say
}

const nameOf = (feature) => report.features[feature];
const tailOf = (feature, row) => (report.data === null ? "" : ` = ${valueOf(feature, row)}`);

const sumOf = (values) => values.reduce((total, value) => total + (value ?? 0), 0);
const outputOf = (row) => report.sums[state.output][row];

function largest(sizes) {
  const all = sizes.map((_, feature) => feature).sort((a, b) => Math.abs(sizes[b]) - Math.abs(sizes[a]));
  const kept = state.most ? all.slice(0, state.most) : all;
  if (state.order === "column") kept.sort((a, b) => a - b);
  if (state.order === "name") kept.sort((a, b) => report.features[a].localeCompare(report.features[b]));
  return kept;
}

// A picture with a line for each name: on a wide screen beside what is drawn, on a narrow one above it

function picture(svg, lines, low, high, height, head = 0) {
  svg.replaceChildren();
  const width = svg.parentNode.clientWidth, narrow = width < 480;
  const most = (texts) => Math.max(0, ...texts.map(widthOf));
  const left = narrow ? 8 : Math.min(0.36 * width, most(lines.map((line) => line.name + (line.tail ?? ""))) + 12);
  const right = narrow ? 8 : most(lines.map((line) => line.text)) + 14;
  const above = narrow ? 20 : 0;
  const step = height + above + 4, bottom = head + lines.length * step + 6;
  const x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  svg.setAttribute("height", bottom + 24);
  for (const tick of ticks(low, high, (width - left - right) / 80)) {
    add(svg, "line", { x1: x(tick), x2: x(tick), y1: head, y2: bottom, stroke: tick === 0 ? "var(--edge)" : "var(--grid)" });
    add(svg, "text", { x: x(tick), y: bottom + 16, "text-anchor": "middle", class: "tick" }, number(tick));
  }
  const rooms = lines.map((line) => (narrow ? width - widthOf(line.text) - 16 : left - 10));
  const tails = lines.map((line, place) => fitted(line.tail ?? "", 0.6 * rooms[place]));
  const names = toldApart(lines.map((line) => line.name), rooms.map((room, place) => room - widthOf(tails[place])));
  lines.forEach((line, place) => {
    const y = head + place * step + (narrow ? 15 : height / 2 + 5);
    const name = narrow ? { x: 0, y } : { x: left - 8, y, "text-anchor": "end" };
    add(add(svg, "text", name, names[place] + tails[place]), "title", {}, line.name + (line.tail ?? ""));
    add(svg, "text", { x: width, y, "text-anchor": "end" }, line.text);
  });
  return { x, top: (place) => head + place * step + above, bottom };
}

function ticks(low, high, count) {
  const raw = (high - low || 1) / Math.max(2, Math.min(7, count));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const found = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9 * step; place += 1) found.push(place * step);
  return found.map((tick) => Number(tick.toPrecision(12)));
}

function whisker(svg, x, value, error, middle) {
  if (!error) return;
  const [start, end] = [x(value - error), x(value + error)];
  const d = `M${start} ${middle - 4}v8M${start} ${middle}H${end}M${end} ${middle - 4}v8`;
  add(svg, "path", { d, stroke: "var(--ink)", "stroke-width": 1.3, fill: "none", class: "whisker" });
}

function bar(svg, start, end, y, height, value) {
  const fill = value >= 0 ? "var(--positive)" : "var(--negative)";
  add(svg, "rect", { x: Math.min(start, end), y, width: Math.max(1, Math.abs(end - start)), height, fill });
}

// The three pictures

function drawBars() {
  const svg = at("bars"), means = report.means[state.output], errors = report.mean_halves[state.output];
  const kept = largest(means);
  const plain = alike(means);
  const lines = kept.map((i) => ({ name: nameOf(i), text: signed(means[i], errors[i], plain).replace("+", "") }));
  const high = Math.max(1e-300, ...kept.map((i) => means[i] + (errors[i] ?? 0)));
  const { x, top } = picture(svg, lines, 0, high, 22);
  kept.forEach((i, place) => {
    add(svg, "rect", { x: x(0), y: top(place), width: Math.max(1, x(means[i]) - x(0)), height: 22, fill: "#0072b2" });
    whisker(svg, (value) => x(Math.max(0, value)), means[i], errors[i], top(place) + 11);
  });
  svg.setAttribute("aria-label", `Mean absolute Shapley value: ${lines.map((l) => `${l.name} ${l.text}`).join(", ")}`);
}

let dots = []; // of the strip, to find the row that was clicked

function drawStrip() {
  const svg = at("strip"), values = report.values[state.output], kept = largest(report.means[state.output]);
  const all = kept.flatMap((i) => values.map((row) => row[i] ?? 0));
  const low = all.reduce((a, b) => Math.min(a, b), 0), high = all.reduce((a, b) => Math.max(a, b), 0);
  const lines = kept.map((i) => ({ name: nameOf(i), text: "" }));
  const { x, top } = picture(svg, lines, low, high, 22);
  dots = [];
  kept.forEach((i, place) => {
    const shades = shadesOf(i), paths = Array(LAYERS * RAMP.length).fill(""), seen = new Map();
    values.forEach((row, r) => {
      if (row[i] === null) return;
      const across = x(row[i]), slot = Math.round(across / 4), count = seen.get(slot) ?? 0;
      seen.set(slot, count + 1);
      const aside = (count % 2 ? 1 : -1) * Math.ceil(count / 2) * 2.6; // stacked to both sides, as a swarm
      const y = top(place) + 11 + (Math.abs(aside) > 10 ? (aside % 10) : aside);
      dots.push({ row: r, x: across, y });
      paths[(r % LAYERS) * RAMP.length + shades[r]] += `M${across.toFixed(1)} ${y.toFixed(1)}h0`;
    });
    paths.forEach((d, part) => d && add(svg, "path",
      { d, stroke: RAMP[part % RAMP.length], "stroke-width": 5, "stroke-linecap": "round", "stroke-opacity": 0.8 }));
  });
  add(svg, "g", { id: "rings" });
  drawRings();
  svg.setAttribute("aria-label", "Values of all rows, one line of dots for each feature");
}

function drawRings() {
  const rings = at("rings");
  rings.replaceChildren();
  for (const dot of dots) {
    if (dot.row === state.row) add(rings, "circle",
      { cx: dot.x, cy: dot.y, r: 5, fill: "none", stroke: "var(--ink)", "stroke-width": 1.8 });
  }
}

function shadesOf(feature) { // by the rank of its values, so that one outlier does not turn all others alike
  if (report.data === null) return report.values[0].map(() => 0);
  const column = report.data.map((row) => row[feature]);
  const sorted = [...new Set(column.filter((value) => value !== null))].sort((a, b) => a - b);
  const rank = new Map(sorted.map((value, place) => [value, place / Math.max(1, sorted.length - 1)]));
  return column.map((value) => Math.round((rank.get(value) ?? 0.5) * (RAMP.length - 1)));
}

function boundOfRest(errors, kept) { // of a sum: the errors added up, theirs or those of the others, as all together have none
  const sums = [kept, errors.map((_, i) => i).filter((i) => !kept.includes(i))]
    .filter((part) => part.every((i) => errors[i] !== null)).map((part) => sumOf(part.map((i) => errors[i])));
  return sums.length ? Math.min(...sums) : null;
}

function drawWaterfall() {
  const svg = at("waterfall"), values = report.values[state.output][state.row].map((value) => value ?? 0);
  const errors = report.halves[state.output][state.row], base = report.base[state.output][state.row];
  const kept = largest(values), left = values.length - kept.length;
  const steps = kept.map((i) => ({ name: nameOf(i), tail: tailOf(i, state.row), value: values[i], error: errors[i] }));
  const rest = sumOf(values) - sumOf(steps.map((step) => step.value));
  const smaller = { name: `${left} smaller feature${left > 1 ? "s" : ""}`, value: rest, error: boundOfRest(errors, kept) };
  if (left) steps.push(smaller);
  let end = outputOf(state.row);
  for (const step of steps) [step.end, step.start, end] = [end, end - step.value, end - step.value];
  const reach = steps.flatMap(({ start, end, error }) => [start, end - (error ?? 0), end + (error ?? 0)]);
  const low = Math.min(base, ...reach), high = Math.max(base, ...reach), margin = 0.03 * (high - low || 1);
  const plain = alike(steps.map((step) => step.value));
  const lines = steps.map((step) => ({ name: step.name, tail: step.tail, text: signed(step.value, step.error, plain) }));
  if (left && smaller.error) lines.at(-1).text += " at most";
  const { x, top, bottom } = picture(svg, lines, low - margin, high + margin, 24, 20);
  const ends = [["base", base], ["output", outputOf(state.row)]].map(([word, value]) => [word + " " + number(value, 3), x(value)]);
  const apart = Math.abs(ends[0][1] - ends[1][1]) > widthOf(ends[0][0] + ends[1][0]) + 16;
  ends.forEach(([text, place], which) => { // inwards of the two dashed lines, or outwards where there is no room
    const line = { x1: place, x2: place, y1: 2, y2: bottom, stroke: "var(--soft)", "stroke-dasharray": "4 3" };
    svg.prepend(add(svg, "line", line)); // below the text
    const starts = apart === (place < ends[1 - which][1] || (place === ends[1 - which][1] && which === 0));
    const anchor = { x: place + (starts ? 5 : -5), y: 13, "text-anchor": starts ? "start" : "end" };
    const reach = anchor.x + (starts ? 1 : -1) * widthOf(text);
    if (reach > 0 && reach < svg.parentNode.clientWidth) add(svg, "text", anchor, text);
  });
  steps.forEach((step, place) => {
    bar(svg, x(step.start), x(step.end), top(place), 24, step.value);
    whisker(svg, x, step.end, step.error, top(place) + 12);
  });
  const spoken = lines.map((line) => `${line.name}${line.tail ?? ""}: ${line.text}`).join(", ");
  svg.setAttribute("aria-label", `Row ${state.row}, from ${number(base)} to ${number(outputOf(state.row))}: ${spoken}`);
}

// The row that is shown, in words and numbers

function drawRow() {
  const { row, output } = state, base = report.base[output][row];
  const label = report.labels === null ? "" : `; true label ${report.labels[row]}`;
  const what = report.outputs === null ? "output" : `output “${report.outputs[output]}”`;
  at("headline").textContent = `Row ${row}: ${what} ${number(outputOf(row))}, base value ${number(base)}${label}`;
  at("row").value = row;
  at("previous").disabled = row === 0;
  at("next").disabled = row === numRows - 1;
  const table = at("numbers"), columns = ["feature", "its value", "Shapley value", "standard error"];
  if (report.data === null) columns.splice(1, 1);
  table.replaceChildren();
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  for (const column of columns) add(head, "th", { scope: "col" }, column);
  for (const i of largest(report.values[output][row])) {
    const line = add(body, "tr");
    add(line, "td", {}, report.features[i]);
    if (report.data !== null) add(line, "td", {}, valueOf(i, row, 6));
    add(line, "td", {}, number(report.values[output][row][i], 6));
    const error = report.errors[output][row][i];
    add(line, "td", {}, error === null ? "unknown" : error === 0 ? "exact" : number(error, 2));
  }
  drawWaterfall();
  drawRings();
  drawComparison();
  drawWhatIf();
  for (const line of at("rows").querySelectorAll("tbody tr")) line.classList.toggle("picked", +line.dataset.row === row);
}

// The table of rows

function tableColumns() {
  const means = report.means[state.output];
  const features = means.map((_, i) => i).sort((a, b) => means[b] - means[a]).slice(0, COLUMNS);
  const columns = [{ id: "row", name: "row", of: (row) => row }];
  if (report.labels !== null) columns.push({ id: "label", name: "true label", of: (row) => report.labels[row] });
  columns.push({ id: "output", name: "output", of: outputOf });
  const value = (i) => (row) => report.values[state.output][row][i];
  return [...columns, ...features.map((i) => ({ id: `feature ${i}`, name: report.features[i], of: value(i), tint: true }))];
}

function compare(a, b) {
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b)) : x - y;
}

function matches(row, wanted) { // "age > 30", or text that a label or what a feature was begins with
  if (wanted === "") return true;
  const test = /^(.*?)\s*(<=|>=|=|<|>)\s*(.+)$/.exec(wanted);
  const place = test === null ? -1 : report.features.findIndex((name) => name.toLowerCase() === test[1].toLowerCase());
  if (place >= 0 && report.data !== null) {
    const own = report.data[row][place], asked = Number(test[3]);
    if (Number.isNaN(asked) || report.texts[place]) return test[2] === "=" && valueOf(place, row).toLowerCase() === test[3].toLowerCase();
    return own !== null && { "<": own < asked, ">": own > asked, "<=": own <= asked, ">=": own >= asked, "=": own === asked }[test[2]];
  }
  const words = report.data === null ? [] : report.features.map((_, i) => valueOf(i, row));
  return [String(row), report.labels?.[row] ?? "", ...words].some((text) => text.toLowerCase().startsWith(wanted.toLowerCase()));
}

function csv() { // one line per row, feature and output; text that a spreadsheet would run is kept text
  const quoted = (text) => `"${String(text).replace(/^[=+\-@\t\r]/, "'$&").replace(/"/g, '""')}"`;
  const lines = [["row", "output", "feature", "feature_value", "value", "std_error"].map(quoted).join(",")];
  report.values.forEach((rows, output) => rows.forEach((values, row) => values.forEach((value, i) => {
    const name = report.outputs === null ? "" : report.outputs[output], was = report.data === null ? "" : report.data[row][i] ?? "";
    const shown = report.texts[i]?.[was] === undefined ? was : quoted(report.texts[i][was]);
    lines.push([row, quoted(name), quoted(report.features[i]), shown, value ?? "", report.errors[output][row][i] ?? ""].join(","));
  })));
  return lines.join("\n") + "\n";
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  link.download = "values.csv";
  link.click();
}

function drawRows() {
  const table = at("rows"), columns = tableColumns(), order = report.values[0].map((_, row) => row);
  const by = columns.find((column) => column.id === state.column) ?? columns[0];
  const all = order.length, shown = order.filter((row) => matches(row, at("filter").value.trim()));
  at("matching").textContent = shown.length < all ? `${shown.length} of ${all} rows` : "";
  order.splice(0, all, ...shown);
  order.sort((a, b) => (state.down ? -1 : 1) * compare(by.of(a), by.of(b)) || a - b);
  const tinted = columns.filter((column) => column.tint);
  const top = order.reduce((most, row) => Math.max(most, ...tinted.map((column) => Math.abs(column.of(row)))), 0) || 1;
  const plain = alike(order.flatMap((row) => tinted.map((column) => column.of(row))), 4), plainOutput = alike(order.map(outputOf), 4);
  table.replaceChildren();
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  const short = toldApart(columns.map((column) => column.name), columns.map(() => 140));
  for (const column of columns) {
    const sorted = column === by ? (state.down ? "descending" : "ascending") : "none";
    const mark = column === by ? (state.down ? " ▼" : " ▲") : "";
    const cell = add(head, "th", { scope: "col", "aria-sort": sorted });
    add(cell, "button", { "data-column": column.id, title: column.name }, short.shift() + mark);
  }
  for (const row of order.slice(0, state.lines)) {
    const line = add(body, "tr", { "data-row": row, class: row === state.row ? "picked" : "" });
    for (const column of columns) {
      const value = column.of(row), cell = add(line, "td");
      if (column.id === "row") add(cell, "button", { "aria-label": `show row ${row}` }, String(row));
      else cell.textContent = column.id === "label" ? value : column.tint ? plain(value) : plainOutput(value);
      if (column.tint && value) {
        const colour = value > 0 ? "var(--positive)" : "var(--negative)";
        const share = Math.round(65 * Math.abs(value) / top);
        cell.style.background = `color-mix(in srgb, ${colour} ${share}%, var(--paper))`;
      }
    }
  }
}
