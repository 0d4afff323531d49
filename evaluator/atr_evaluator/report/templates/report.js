"use strict";
(() => {
  const PAGE = 100, KEPT = 24, POLL = 2000;
  const at = (id) => document.getElementById(id);
  let data = JSON.parse(at("data").textContent);
  let shown = [], visible = PAGE, found = null, searching = 0;
  const cache = new Map();

  const FILTERS = [
    ["model", "Model", (row) => cellOf(row)[3]],
    ["variant", "Variant", (row) => cellOf(row)[2]],
    ["persona", "Persona", (row) => cellOf(row)[1]],
    ["type", "Session", (row) => row[2]],
    ["domain", "Domain", (row) => row[3]],
    ["check_type", "Check type", (row) => row[4]],
    ["outcome", "Outcome", (row) => row[5]],
    ["loss_class", "Class", (row) => row[6]],
    ["ended", "Ended", (row) => row[7]],
  ];
  const COLUMNS = ["Session", "Outcome", "Class", "Variant", "Model", "Domain", "Check type", "Steps", "Calls", "Asks", "Hits"];

  function cellOf(row) { return data.cells[row[0]]; }
  function address(row) { return "#session=" + encodeURIComponent(cellOf(row)[0] + "/" + row[1]); }

  function element(name, text, more = {}) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    for (const [key, value] of Object.entries(more)) made.setAttribute(key, value);
    return made;
  }

  // Sessions of a cell: in this file, deflated, or on the server.
  async function inflated(number) {
    const block = at("cell-" + number);
    if (block) {
      const bytes = Uint8Array.from(atob(block.textContent), (sign) => sign.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Response(stream).text();
    }
    if (data.served) {
      const answer = await fetch("cells/" + number);
      if (!answer.ok) throw new Error("the server answered " + answer.status);
      return answer.text();
    }
    throw new Error("The transcripts were too large for one file. See them with: atr-client view DIR");
  }

  async function cell(number) {
    if (!cache.has(number)) {
      if (cache.size >= KEPT) cache.delete(cache.keys().next().value);
      cache.set(number, JSON.parse(await inflated(number)));
    }
    return cache.get(number);
  }

  function control(name) { return at("filters").elements[name]; }

  function buildFilters() {
    const form = at("filters");
    const before = new Map([...form.elements].map((input) => [input.name, input.value]));
    form.replaceChildren();
    for (const [name, label, value] of FILTERS) {
      const values = [...new Set(data.rows.map(value))].filter((one) => one !== "").sort();
      const box = element("label", label), select = element("select", null, { name });
      select.append(element("option", "all", { value: "" }));
      for (const one of values) select.append(element("option", one, { value: one }));
      select.value = values.includes(before.get(name)) ? before.get(name) : "";
      box.append(select);
      form.append(box);
    }
    const box = element("label", "Words in the transcript", { class: "wide" });
    const search = element("input", null, { name: "words", type: "search", autocomplete: "off" });
    search.value = before.get("words") || "";
    box.append(search);
    form.append(box);
  }

  function passes(row) {
    if (found && !found.has(row)) return false;
    return FILTERS.every(([name, , value]) => !control(name).value || control(name).value === value(row));
  }

  function showList() {
    shown = data.rows.filter(passes);
    const head = element("tr");
    for (const name of COLUMNS) head.append(element("th", name, { scope: "col" }));
    at("list").tHead.replaceChildren(head);
    const body = document.createDocumentFragment();
    for (const row of shown.slice(0, visible)) {
      const line = element("tr"), own = cellOf(row), first = element("th", null, { scope: "row" });
      const link = element("a", null, { href: address(row) });
      for (const part of row[1].split(/(?<=_)/)) link.append(part, element("wbr"));
      first.append(link);
      line.append(first);
      const cells = [row[5], row[6], own[2], own[3], row[3], row[4], row[8], row[9], row[10] || "", row[11] || ""];
      for (const value of cells) line.append(element("td", value));
      if (address(row) === location.hash) line.setAttribute("aria-current", "true");
      body.append(line);
    }
    at("list").tBodies[0].replaceChildren(body);
    at("more").hidden = shown.length <= visible;
    if (!searching) at("count").textContent = shown.length.toLocaleString("en") + " of " + data.rows.length.toLocaleString("en") + " sessions";
  }

  // Full-text search: every transcript is inflated once, nothing is kept.
  async function search() {
    const words = control("words").value.trim().toLowerCase(), turn = ++searching;
    if (!words) { found = null; searching = 0; showList(); return; }
    const hits = new Set(), byCell = new Map();
    for (const row of data.rows) {
      if (!byCell.has(row[0])) byCell.set(row[0], []);
      byCell.get(row[0]).push(row);
    }
    let done = 0;
    try {
      for (const [number, rows] of byCell) {
        const documents = JSON.parse(await inflated(number));
        if (turn !== searching) return;
        for (const row of rows) {
          const told = documents[row[1]];
          if (told && plain(told).includes(words)) hits.add(row);
        }
        done += 1;
        at("count").textContent = "searched " + done + " of " + byCell.size + " cells";
      }
    } catch (fault) {
      searching = 0;
      at("count").textContent = fault.message;
      return;
    }
    searching = 0;
    found = hits;
    showList();
  }

  function plain(told) {
    const parts = [];
    (function walk(value) {
      if (typeof value === "string") parts.push(value);
      else if (value && typeof value === "object") for (const one of Object.values(value)) walk(one);
      else if (value !== null && value !== undefined) parts.push(String(value));
    })([told.expected, told.done, told.messages, told.events]);
    return parts.join("\n").toLowerCase();
  }

  function written(value) { return typeof value === "string" ? value : JSON.stringify(value, null, 1); }

  function marked(text) {
    const box = document.createDocumentFragment(), words = control("words").value.trim().toLowerCase();
    if (!words) { box.append(text); return box; }
    const low = text.toLowerCase();
    let from = 0;
    for (let next = low.indexOf(words); next >= 0; next = low.indexOf(words, from)) {
      box.append(text.slice(from, next), element("mark", text.slice(next, next + words.length)));
      from = next + words.length;
    }
    box.append(text.slice(from));
    return box;
  }

  function list(title, pairs) {
    const box = element("div"), listed = element("dl");
    box.append(element("h3", title), listed);
    for (const [name, value] of pairs) {
      const told = element("dd");
      told.append(marked(written(value)));
      listed.append(element("dt", name), told);
    }
    return box;
  }

  function message(told, events) {
    const box = element("div", null, { class: "message " + told.role + (told.error ? " error" : "") });
    box.append(element("h4", told.turn + " " + told.role + (told.error ? ", refused" : "")));
    const lines = [];
    if (told.thinking) lines.push("(thinking) " + told.thinking);
    if (told.text) lines.push(told.text);
    for (const [name, args, fault] of told.calls || []) {
      lines.push("→ " + name + "(" + JSON.stringify(args) + ")" + (fault ? "  unreadable: " + fault : ""));
    }
    for (const line of lines) { const pre = element("pre"); pre.append(marked(line)); box.append(pre); }
    for (const [, kind, more] of events) {
      const details = Object.keys(more).length ? " " + JSON.stringify(more) : "";
      box.append(element("div", "• " + kind + details, { class: "event" }));
    }
    return box;
  }

  async function open() {
    const reader = at("reader"), hash = location.hash;
    if (!hash.startsWith("#session=")) { reader.hidden = true; showList(); return; }
    const row = data.rows.find((one) => address(one) === hash);
    const body = at("reader-body");
    reader.hidden = false;
    body.replaceChildren();
    showList();
    if (!row) { at("reader-title").textContent = "There is no such session here"; return; }
    at("reader-title").textContent = row[1];
    body.append(element("p", cellOf(row)[0]));
    try {
      const told = (await cell(row[0]))[row[1]];
      if (location.hash !== hash) return;
      body.append(element("p", told.ended));
      const tokens = Object.entries(told.tokens).map(([role, [put, got, calls]]) => role + " " + put.toLocaleString("en") + " in, " + got.toLocaleString("en") + " out, " + calls + " calls");
      if (tokens.length) body.append(element("p", "Tokens: " + tokens.join("; ")));
      const sides = element("div", null, { class: "sides" });
      sides.append(list("Expected", told.expected), list("Done", told.done));
      body.append(sides, element("h3", "Messages"));
      for (const one of told.messages) body.append(message(one, told.events.filter((event) => event[0] === one.turn)));
    } catch (fault) {
      body.append(element("p", fault.message, { class: "warning" }));
    }
    reader.focus({ preventScroll: true });
    reader.scrollIntoView();
  }

  let waiting = 0;
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("input", (event) => {
    visible = PAGE;
    if (event.target.name !== "words") { showList(); return; }
    clearTimeout(waiting);
    waiting = setTimeout(search, 250);
  });
  at("more").addEventListener("click", () => { visible += PAGE; showList(); });
  addEventListener("hashchange", () => {
    const target = location.hash.startsWith("#table-") && at(location.hash.slice(1));
    if (target) target.open = true;
    open();
  });
  addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; });

  // Live: the server's page follows a sweep.
  let version = null;
  async function follow() {
    try {
      const now = await (await fetch("state")).json();
      if (version !== null && now.version !== version) {
        const [overview, told] = await Promise.all([fetch("overview"), fetch("data")]);
        const closed = [...document.querySelectorAll("details:not([open])")].map((one) => one.id);
        at("overview").innerHTML = await overview.text();
        for (const id of closed) if (at(id)) at(id).open = false;
        data = { ...data, ...(await told.json()) };
        cache.clear();
        found = null;
        buildFilters();
        if (control("words").value) search(); else showList();
      }
      version = now.version;
      at("live").textContent = "Live: " + now.told;
    } catch (fault) {
      at("live").textContent = "The server does not answer; this is what it said last.";
    }
    setTimeout(follow, POLL);
  }

  buildFilters();
  open();
  if (data.served) follow();
})();
