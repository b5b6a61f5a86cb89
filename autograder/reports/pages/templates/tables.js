"use strict";
// Tables whose rows are all there: a press on a column's name sorts them.
(() => {
  const value = (row, place) => {
    const cell = row.cells[place];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" || isNaN(text) ? text : Number(text);
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    // What there is no number for comes last.
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, undefined, { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        const known = new Map(rows.map((row) => [row, value(row, place)]));
        const empty = (row) => known.get(row) === "";
        rows.sort((a, b) =>
          empty(a) || empty(b) ? empty(a) - empty(b)
            : (down ? -1 : 1) * order(known.get(a), known.get(b)));
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
