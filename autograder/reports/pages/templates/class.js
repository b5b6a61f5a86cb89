"use strict";
// The students of a class: one list, filtered and sorted, as a map and as a table.
(() => {
  const at = (id) => document.getElementById(id);
  const { components, criteria, students } = JSON.parse(at("data").textContent);
  const [ID, FILE, STANDING, SCORE, PARTS, CELLS, REMARKS] = [0, 1, 2, 3, 4, 5, 6];
  const PAGE = 25;
  const ROW = 16;
  const HEAD = 20;
  const heat = at("heat");
  const canvas = heat.querySelector("canvas");
  const pen = canvas.getContext("2d");
  const state = { find: "", standing: "", sort: "id", down: false, part: "", columns: "", page: 0 };
  let rows = students;
  let columns = criteria.map((_, place) => place);
  let cursor = null;
  let printing = false;

  // What a student is sorted by; null comes last, whichever way.
  const keys = { id: ID, standing: STANDING, score: SCORE };
  const key = (student) => {
    const [kind, place] = state.sort.split(":");
    if (kind === "part") return student[PARTS][place];
    if (kind === "criterion") return level(student[CELLS][place]);
    return student[keys[kind]];
  };
  // How much of its points a cell earned; what ended it early is below nothing.
  const level = (cell) => {
    if (cell === undefined || cell === "-") return null;
    if (cell === "A") return 10;
    return "tce".includes(cell) ? "tce".indexOf(cell) - 3 : Number(cell);
  };
  const compare = (a, b) => {
    const [one, other] = [key(a), key(b)];
    if (one === null || other === null) return (one === null) - (other === null);
    const found = typeof one === "string"
      ? one.localeCompare(other, undefined, { numeric: true }) : one - other;
    return state.down ? -found : found;
  };
  const number = (value) => (value === null ? "–" : String(Number(value.toPrecision(6))));
  const words = (cell) => {
    if (cell === undefined) return "nothing was graded";
    const known = { A: "passed", "-": "never ran", t: "lost, it took too long",
      c: "lost, its process died", e: "lost, it raised an exception", 0: "lost" };
    return known[cell] ?? `in part, at least ${Number(cell) * 10} % of its points`;
  };

  const within = (place, list) => Math.max(0, Math.min(place, list.length - 1));
  const update = () => {
    const wanted = state.find.trim().toLowerCase();
    rows = students.filter((student) =>
      (!state.standing || student[STANDING] === state.standing) &&
      (!wanted || student[ID].toLowerCase().includes(wanted)));
    rows.sort(compare);
    columns = criteria.map((_, place) => place)
      .filter((place) => state.part === "" || criteria[place][2] === Number(state.part));
    if (state.columns === "hard") {
      const earned = (place) => criteria[place][5] ?? 2;
      columns.sort((a, b) => earned(a) - earned(b) || a - b);
    }
    if (cursor) {
      cursor = { row: within(cursor.row, rows), column: within(cursor.column, columns) };
    }
    state.page = Math.min(state.page, Math.max(0, Math.ceil(rows.length / PAGE) - 1));
    draw();
    list();
  };

  // The map: only what is in sight is drawn, so that 2,000 students cost as much as 30.
  const names = () => Math.min(140, Math.round(heat.clientWidth / 3.5));
  const width = () => {
    const room = (heat.clientWidth - names()) / Math.max(1, columns.length);
    return Math.max(7, Math.min(26, Math.floor(room)));
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const draw = () => {
    const [left, cell] = [names(), width()];
    const room = at("room");
    room.style.width = `${left + cell * columns.length}px`;
    room.style.height = `${HEAD + ROW * rows.length}px`;
    const [wide, high] = [heat.clientWidth, Math.min(heat.clientHeight, HEAD + ROW * rows.length)];
    const scale = devicePixelRatio || 1;
    canvas.width = wide * scale;
    canvas.height = high * scale;
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${high}px`;
    pen.scale(scale, scale);
    const paints = {};
    for (const [sign, name] of [["A", "--pass"], ["0", "--lost"], ["t", "--hang"], ["c", "--died"],
      ["e", "--raise"], ["-", "--unrun"]]) paints[sign] = colour(name);
    const [paper, ink, soft, part] = ["--paper", "--ink", "--gf-soft", "--part"].map(colour);
    pen.fillStyle = paper;
    pen.fillRect(0, 0, wide, high);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const first = Math.floor(heat.scrollTop / ROW);
    const last = Math.min(rows.length, first + Math.ceil(high / ROW) + 1);
    const from = Math.floor(heat.scrollLeft / cell);
    const to = Math.min(columns.length, from + Math.ceil((wide - left) / cell) + 1);
    const y = (row) => HEAD + row * ROW - heat.scrollTop;
    const x = (column) => left + column * cell - heat.scrollLeft;
    for (let row = first; row < last; row += 1) {
      const cells = rows[row][CELLS];
      for (let column = from; column < to; column += 1) {
        const sign = cells[columns[column]];
        if (sign === undefined) continue;
        pen.fillStyle = paints[sign] ?? part;
        pen.fillRect(x(column), y(row), cell - 1, ROW - 1);
      }
    }
    if (cursor && rows.length && columns.length) {
      pen.strokeStyle = colour("--cursor");
      pen.lineWidth = 2;
      pen.strokeRect(x(cursor.column) - 1, y(cursor.row) - 1, cell + 1, ROW + 1);
    }
    // Over what was scrolled under them: names at the left, components at the top.
    pen.fillStyle = paper;
    pen.fillRect(0, 0, left, high);
    const clipped = (text, place, top, most, tint) => {
      pen.save();
      pen.beginPath();
      pen.rect(place, top - ROW / 2, most, ROW);
      pen.clip();
      pen.fillStyle = tint;
      pen.fillText(text, place, top);
      pen.restore();
    };
    for (let row = first; row < last; row += 1) {
      clipped(rows[row][ID], 4, y(row) + ROW / 2, left - 10, ink);
    }
    pen.fillStyle = paper;
    pen.fillRect(0, 0, wide, HEAD - 1);
    for (let column = from; column < to && !state.columns; ) {
      const mine = criteria[columns[column]][2];
      let end = column;
      while (end < columns.length && criteria[columns[end]][2] === mine) end += 1;
      const place = Math.max(x(column), left);
      clipped(components[mine][0], place + 1, HEAD / 2, x(end) - place - 4, soft);
      column = end;
    }
    pen.fillStyle = paper;
    pen.fillRect(0, 0, left, HEAD - 1);
  };
  const tell = () => {
    const place = at("cell");
    place.replaceChildren();
    if (!cursor || !rows.length || !columns.length) return;
    const student = rows[cursor.row];
    const [id, title, , most, hidden] = criteria[columns[cursor.column]];
    place.append(link(student), `: ${title} (${id}, ${number(most)} points` +
      `${hidden ? ", hidden" : ""}): ${words(student[CELLS][columns[cursor.column]])}`);
  };
  const go = (row, column) => {
    if (!rows.length || !columns.length) return;
    cursor = { row: within(row, rows), column: within(column, columns) };
    const [left, cell] = [names(), width()];
    const [top, side] = [cursor.row * ROW, cursor.column * cell];
    heat.scrollTop = Math.min(top, Math.max(heat.scrollTop, top + ROW + HEAD - heat.clientHeight));
    heat.scrollLeft = Math.min(side, Math.max(heat.scrollLeft, side + cell + left - heat.clientWidth));
    draw();
    tell();
  };
  const under = (event) => {
    const box = heat.getBoundingClientRect();
    const across = event.clientX - box.left - heat.clientLeft - names() + heat.scrollLeft;
    const down = event.clientY - box.top - heat.clientTop - HEAD + heat.scrollTop;
    return { row: Math.floor(down / ROW), column: Math.floor(across / width()) };
  };
  heat.addEventListener("click", (event) => {
    const { row, column } = under(event);
    if (row >= 0 && row < rows.length && column >= 0 && column < columns.length) go(row, column);
  });
  heat.addEventListener("mousemove", (event) => {
    const { row, column } = under(event);
    const [student, criterion] = [rows[row], criteria[columns[column]]];
    heat.title = student && criterion
      ? `${student[ID]}: ${criterion[1]}: ${words(student[CELLS][columns[column]])}` : "";
  });
  heat.addEventListener("keydown", (event) => {
    const { row, column } = cursor ?? { row: 0, column: 0 };
    const screen = Math.max(1, Math.floor((heat.clientHeight - HEAD) / ROW) - 1);
    const ways = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      Home: [row, 0], End: [row, columns.length - 1],
      PageDown: [row + screen, column], PageUp: [row - screen, column],
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ways) {
      event.preventDefault();
      if (cursor) go(...ways[event.key]); else go(0, 0);
    } else if (event.key.toLowerCase() === "s" && cursor) {
      order(`criterion:${columns[cursor.column]}`);
    } else if (event.key === "Enter" && cursor && rows.length) {
      location.href = address(rows[cursor.row]);
    }
  });
  heat.addEventListener("scroll", draw);

  // The table: the same rows, some at a time.
  const address = (student) => student[FILE].split("/").map(encodeURIComponent).join("/");
  const link = (student) => {
    const found = document.createElement("a");
    found.href = address(student);
    found.textContent = student[ID];
    return found;
  };
  const cellOf = (row, content, kind, name = "td") => {
    const cell = document.createElement(name);
    cell.append(content);
    if (kind) cell.className = kind;
    row.append(cell);
    return cell;
  };
  const list = () => {
    const shown = printing ? rows : rows.slice(state.page * PAGE, (state.page + 1) * PAGE);
    const body = at("rows").tBodies[0];
    body.replaceChildren(...shown.map((student) => {
      const row = document.createElement("tr");
      cellOf(row, link(student), "wide", "th").scope = "row";
      cellOf(row, student[STANDING]);
      cellOf(row, number(student[SCORE]), "n");
      for (const score of student[PARTS]) cellOf(row, number(score), "n");
      cellOf(row, student[REMARKS], "remarks");
      return row;
    }));
    const first = printing ? 0 : state.page * PAGE;
    at("count").textContent = rows.length
      ? `${first + 1} to ${first + shown.length} of ${rows.length}` : "Nobody is found.";
    at("back").disabled = state.page === 0;
    at("on").disabled = (state.page + 1) * PAGE >= rows.length;
    for (const head of at("rows").tHead.rows[0].cells) {
      if (head.dataset.key !== state.sort) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    }
  };
  const order = (wanted, turn = false) => {
    state.down = turn && state.sort === wanted ? !state.down : false;
    state.sort = wanted;
    if (![...at("sort").options].some((one) => one.value === wanted)) {
      at("sort").append(new Option(criteria[Number(wanted.split(":")[1])][0], wanted));
    }
    at("sort").value = wanted;
    state.page = 0;
    heat.scrollTop = 0;
    if (cursor) cursor.row = 0;
    update();
    tell();
  };

  const sorts = [["id", "student"], ["standing", "standing"], ["score", "score"],
    ...components.map(([name], place) => [`part:${place}`, name])];
  for (const [value, name] of sorts) at("sort").append(new Option(name, value));
  at("part").append(new Option("all components", ""));
  components.forEach(([name], place) => at("part").append(new Option(name, place)));
  const top = document.createElement("tr");
  for (const [value, name] of sorts) {
    const button = document.createElement("button");
    button.type = "button";
    for (const part of name.split(/(?<=_)/)) button.append(part, document.createElement("wbr"));
    button.addEventListener("click", () => order(value, true));
    const head = cellOf(top, button, value === "id" || value === "standing" ? "" : "n", "th");
    head.scope = "col";
    head.dataset.key = value;
  }
  cellOf(top, "remarks", "", "th").scope = "col";
  at("rows").tHead.append(top);

  const set = (name, value) => {
    state[name] = value;
    state.page = 0;
    heat.scrollTop = 0;
    heat.scrollLeft = 0;
    cursor = null;
    tell();
    update();
  };
  at("find").addEventListener("input", (event) => set("find", event.target.value));
  for (const name of ["standing", "part", "columns"]) {
    at(name).addEventListener("change", (event) => set(name, event.target.value));
  }
  at("sort").addEventListener("change", (event) => order(event.target.value));
  at("turn").addEventListener("click", () => order(state.sort, true));
  for (const [name, by] of [["back", -1], ["on", 1]]) {
    at(name).addEventListener("click", () => {
      state.page += by;
      list();
    });
  }
  addEventListener("themed", draw);
  addEventListener("resize", draw);
  for (const [name, now] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(name, () => {
      printing = now;
      update();
    });
  }
  at("tool").hidden = false;
  update();
})();
