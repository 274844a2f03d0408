// What the reader does

function showMoreRows() {
  state.lines += MORE_LINES;
  offerMoreRows();
  drawRows();
  at("rows").parentNode.focus();
}

function offerMoreRows() {
  const rest = numRows - state.lines, button = at("more-rows");
  button.hidden = rest <= 0;
  button.textContent = rest > MORE_LINES ? `Show ${MORE_LINES} more of ${numRows} rows` : `Show all ${numRows} rows`;
}

function pick(row) {
  if (!Number.isInteger(row)) return;
  state.row = Math.max(0, Math.min(numRows - 1, row));
  state.step = null;
  drawRow();
  remember();
}

function compareWith(row) { // with nothing, where the box is empty
  state.other = Number.isInteger(row) ? Math.max(0, Math.min(numRows - 1, row)) : null;
  drawComparison();
  remember();
}

function remember() { // in the address, so that a row can be pointed to
  const parts = { row: state.row, output: state.output, order: state.order, most: state.most };
  if (state.other !== null) parts.other = state.other;
  try { history.replaceState(null, "", "#" + new URLSearchParams(parts)); } catch { /* not inside a notebook's frame */ }
}

function recall() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const within = (name, end) => /^\d+$/.test(parts.get(name) ?? "") && +parts.get(name) < end;
  if (within("row", numRows)) state.row = +parts.get("row");
  state.other = within("other", numRows) ? +parts.get("other") : null;
  if (within("output", report.values.length)) state.output = +parts.get("output");
  for (const name of ["order", "most"]) {
    const known = [...at(name).options].map((option) => option.value);
    if (known.includes(parts.get(name))) state[name] = name === "most" ? +parts.get(name) : parts.get(name);
  }
}

function drawAll() {
  for (const name of ["output", "order", "most"]) at(name).value = state[name];
  drawBars();
  drawStrip();
  drawRows();
  drawRow();
}

(report.outputs ?? []).forEach((name, place) => add(at("output"), "option", { value: place }, name));
at("output-label").hidden = report.values.length < 2;
at("most").parentNode.hidden = report.features.length <= 10;
offerMoreRows();
at("more-rows").addEventListener("click", showMoreRows);
at("legend").hidden = report.data === null;
at("alphabet").hidden = !Object.keys(report.texts).length;
for (const name of ["row", "other"]) at(name).max = numRows - 1;
at("compare").hidden = numRows < 2;
at("range").textContent = `of 0 to ${numRows - 1}`;
for (const name of ["output", "order", "most"]) {
  at(name).addEventListener("change", (event) => {
    state[name] = name === "order" ? event.target.value : +event.target.value;
    drawAll();
    remember();
  });
}
at("filter").addEventListener("input", drawRows);
at("download").addEventListener("click", download);
at("previous").addEventListener("click", () => pick(state.row - 1));
at("next").addEventListener("click", () => pick(state.row + 1));
at("row").addEventListener("change", (event) => pick(event.target.value === "" ? state.row : Math.round(+event.target.value)));
at("other").addEventListener("change", (event) => compareWith(event.target.value === "" ? null : Math.round(+event.target.value)));
at("what-if").hidden = report.what_if === null;
for (const [place, move] of (report.what_if?.moves ?? []).entries()) add(at("moved"), "option", { value: place }, report.features[move.feature]);
at("moved").addEventListener("change", (event) => moveFeature(+event.target.value));
at("step").addEventListener("input", (event) => moveTo(+event.target.value));
at("own-value").addEventListener("click", () => moveFeature(state.moved));
at("curve").addEventListener("click", (event) => moveTo(stepAt(event)));
at("picker").addEventListener("submit", (event) => event.preventDefault());
at("rows").addEventListener("click", (event) => {
  const column = event.target.closest("th button")?.dataset.column, line = event.target.closest("tbody tr");
  if (line) pick(+line.dataset.row);
  if (column === undefined) return;
  state.down = state.column === column ? !state.down : column !== "row" && column !== "label";
  state.column = column;
  drawRows();
  at("rows").querySelector(`[data-column="${column}"]`).focus();
});
at("strip").addEventListener("click", (event) => {
  const box = at("strip").getBoundingClientRect();
  const far = (dot) => Math.hypot(dot.x - event.clientX + box.left, dot.y - event.clientY + box.top);
  const nearest = dots.reduce((best, dot) => (best === null || far(dot) < far(best) ? dot : best), null);
  if (nearest !== null && far(nearest) < 12) pick(nearest.row);
});
addEventListener("hashchange", () => { recall(); drawAll(); });
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
recall();
drawAll();
