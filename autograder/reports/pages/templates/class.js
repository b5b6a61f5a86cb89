"use strict";
// Tables are sorted by a press on a column's name; what there is no value for comes last.
const sorted = (table, value, down) => {
  const known = [...table.tBodies[0].rows].map((row) => [value(row), row]);
  known.sort(([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const apart = typeof a === "number" && typeof b === "number" ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
    return down ? -apart : apart;
  });
  table.tBodies[0].append(...known.map(([, row]) => row));
};
const unmark = (table) => {
  for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
};
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      unmark(table);
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sorted(table, (row) => {
        const cell = row.cells[place];
        const text = cell.dataset.value ?? cell.textContent.trim();
        return text === "" || isNaN(text) ? text : Number(text);
      }, down);
    });
  });
}
// The students: found by a text of their row, and sorted by a criterion of the map.
(() => {
  const at = (id) => document.getElementById(id);
  const [table, criterion] = [at("rows"), at("criterion")];
  const rows = [...table.tBodies[0].rows];
  const LETTERS = { A: "passed", "-": "never ran", t: "lost, it took too long",
    c: "lost, its process died", e: "lost, it raised an exception", 0: "lost" };
  const strips = (row, part) => row.cells[2 + Number(part)].querySelector("svg");
  const letter = (row) => {
    const [part, place] = criterion.value.split(":");
    return strips(row, part)?.dataset.cells[place] ?? "-";
  };
  const find = () => {
    const wanted = at("find").value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    const shown = rows.filter((row) => !row.hidden).length;
    at("count").textContent = shown ? `${shown} of ${rows.length}` : "Nobody is found.";
  };
  const order = () => {
    unmark(table);
    if (criterion.value === "") return sorted(table, (row) => row.cells[0].textContent, false);
    // What ended early is below what earned nothing.
    sorted(table, (row) => {
      const found = letter(row);
      return found === "-" ? "" : "tce0123456789A".indexOf(found);
    }, false);
  };
  table.addEventListener("click", (event) => {
    const strip = event.target.closest("svg");
    if (!strip) return;
    const row = strip.closest("tr");
    const box = strip.getBoundingClientRect();
    const cells = strip.dataset.cells;
    const place = Math.floor((event.clientX - box.left) / box.width * cells.length);
    criterion.value = `${strip.parentElement.cellIndex - 2}:${Math.min(place, cells.length - 1)}`;
    const found = letter(row);
    const words = LETTERS[found] ?? `in part, at least ${Number(found) * 10} % of its points`;
    at("cell").textContent =
      `${row.cells[0].textContent.trim()}: ${criterion.selectedOptions[0].text}: ${words}`;
  });
  criterion.addEventListener("change", order);
  at("order").addEventListener("click", order);
  at("find").addEventListener("input", find);
  at("tool").hidden = false;
  find();
})();
