"use strict";
// What the page can do besides being read: search, filters, keys, theme. All
// that it works with stands in the page; it never writes markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const cards = Array.from(document.querySelectorAll(".res"));
  const quiet = $("_quiet"), search = $("_search"), shown = $("_shown"), keys = $("_keys");
  const number = (n) => n.toLocaleString("en-US");
  const only = { k: new Set(), f: new Set(), m: null };
  const texts = []; // of the cards, in lower case; made while nobody waits, or at the first search

  const textOf = (i) => {
    if (texts[i] === undefined) {
      const [summary, body] = cards[i].children;
      const parts = Array.from(body.children).filter((part) => !part.matches(".near, .perma"));
      texts[i] = [summary, ...parts].map((part) => part.textContent).join("\n").toLowerCase();
    }
    return texts[i];
  };
  if (window.requestIdleCallback) {
    let next = 0;
    const ahead = (idle) => {
      while (next < cards.length && idle.timeRemaining() > 1) textOf(next++);
      if (next < cards.length) requestIdleCallback(ahead);
    };
    requestIdleCallback(ahead);
  }

  const inModule = (path) => only.m === null || only.m === "" || path === only.m || path.startsWith(only.m + ".");

  function apply() {
    const query = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const narrowed = query.length > 0 || only.k.size > 0 || only.f.size > 0 || only.m !== null;
    let count = 0, hits = 0;
    cards.forEach((card, i) => {
      const data = card.dataset;
      const fits = (only.k.size === 0 || only.k.has(data.k)) &&
        (only.f.size === 0 || data.f.split(" ").some((f) => only.f.has(f))) && inModule(data.m) &&
        query.every((word) => textOf(i).includes(word));
      if (card.hidden === fits) card.hidden = !fits;
      if (fits) {
        count++;
        if (narrowed && quiet?.contains(card)) hits++;
      }
    });
    if (hits > 0 && !quiet.open) {
      quiet.open = true;
      quiet.dataset.byFilter = "";
    } else if (!narrowed && quiet && "byFilter" in quiet.dataset) {
      quiet.open = false;
      delete quiet.dataset.byFilter;
    }
    $("_none").hidden = count > 0 || cards.length === 0;
    shown.value = narrowed ? `${number(count)} of ${number(cards.length)}` : number(cards.length) + (cards.length === 1 ? " resource" : " resources");
    mark(query);
  }

  // mark shows where the words stand, in the first cards that are open.
  function mark(query) {
    if (!CSS.highlights) return;
    CSS.highlights.delete("found");
    if (query.length === 0) return;
    const ranges = [];
    for (const card of cards) {
      if (ranges.length > 300) break;
      if (card.hidden) continue;
      const walker = document.createTreeWalker(card.open ? card : card.firstElementChild, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node && ranges.length <= 300; node = walker.nextNode()) {
        const text = node.data.toLowerCase();
        if (text.length !== node.data.length) continue;
        for (const word of query) {
          for (let at = text.indexOf(word); at >= 0 && ranges.length <= 300; at = text.indexOf(word, at + word.length)) {
            const range = new Range();
            range.setStart(node, at);
            range.setEnd(node, at + word.length);
            ranges.push(range);
          }
        }
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  }

  let waiting = 0;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, cards.length > 2000 ? 120 : 0);
  };

  function clear() {
    search.value = "";
    only.k.clear();
    only.f.clear();
    only.m = null;
    document.querySelectorAll("#_kinds button").forEach((b) => b.setAttribute("aria-pressed", "false"));
    document.querySelectorAll("#_modules a[aria-current]").forEach((a) => a.removeAttribute("aria-current"));
    apply();
  }

  // The numbers become filters.
  for (const chip of document.querySelectorAll("#_kinds > li")) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = chip.title;
    button.setAttribute("aria-pressed", "false");
    button.append(...chip.childNodes);
    chip.append(button);
    const set = chip.dataset.k ? only.k : only.f, name = chip.dataset.k ?? chip.dataset.f;
    button.addEventListener("click", () => {
      if (!set.delete(name)) set.add(name);
      button.setAttribute("aria-pressed", String(set.has(name)));
      apply();
    });
  }
  for (const link of document.querySelectorAll("#_modules a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const same = only.m === link.dataset.module;
      document.querySelectorAll("#_modules a[aria-current]").forEach((a) => a.removeAttribute("aria-current"));
      only.m = same ? null : link.dataset.module;
      if (!same) link.setAttribute("aria-current", "true");
      apply();
    });
  }
  search.addEventListener("input", later);

  // A link to a resource opens it, wherever it is.
  function follow() {
    let id = "";
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    const target = id && $(id);
    if (!target) return;
    if (target.hidden) clear();
    for (let at = target; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
    target.scrollIntoView({ block: "start" });
    if (target.classList.contains("res")) target.querySelector("summary").focus({ preventScroll: true });
  }
  addEventListener("hashchange", follow);

  // Folding.
  const visible = () => cards.filter((card) => !card.hidden && (!quiet?.contains(card) || quiet.open));
  function fold() {
    const list = visible(), open = list.some((card) => !card.open);
    list.forEach((card) => (card.open = open));
    $("_fold").textContent = open ? "Fold all" : "Open all";
  }
  $("_fold").textContent = cards.length > 0 && cards[0].open ? "Fold all" : "Open all";
  $("_fold").addEventListener("click", fold);

  // Theme.
  const themes = ["system", "light", "dark"];
  const remembered = (write) => {
    try {
      if (write) localStorage.setItem("deployster-theme", write);
      return localStorage.getItem("deployster-theme");
    } catch {
      return null; // a page from a file may have no storage
    }
  };
  function theme(name) {
    if (!themes.includes(name)) name = "system";
    if (name === "system") delete root.dataset.theme;
    else root.dataset.theme = name;
    $("_themeName").textContent = name;
    return name;
  }
  let chosen = theme(remembered());
  const turn = () => {
    chosen = theme(themes[(themes.indexOf(chosen) + 1) % themes.length]);
    remembered(chosen);
  };
  $("_theme").addEventListener("click", turn);

  // Keys.
  const help = () => (keys.open ? keys.close() : keys.showModal());
  $("_help").addEventListener("click", help);
  $("_close").addEventListener("click", () => keys.close());
  function step(by) {
    const list = visible();
    if (list.length === 0) return;
    const at = list.indexOf(document.activeElement?.closest?.(".res"));
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
    next.firstElementChild.focus({ preventScroll: true });
    next.firstElementChild.scrollIntoView({ block: "nearest", behavior: "instant" });
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys.open && event.key !== "?") return;
    if (event.key === "Escape") {
      clear();
      document.activeElement?.blur();
      return;
    }
    if (event.target.matches?.("input, textarea, select")) {
      if (event.key !== "Enter" && event.key !== "ArrowDown") return;
      clearTimeout(waiting);
      apply();
      search.blur();
      step(1);
      event.preventDefault();
      return;
    }
    const act = {
      "/": () => { search.focus(); search.select(); },
      "?": help,
      j: () => step(1),
      k: () => step(-1),
      e: fold,
      t: turn,
      g: () => { const graph = $("_graph"); if (graph) { graph.open = true; graph.scrollIntoView(); graph.firstElementChild.focus(); } },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  addEventListener("beforeprint", () => cards.forEach((card) => { if (!quiet?.contains(card) && !card.hidden) card.open = true; }));

  if (matchMedia("(max-width: 62rem)").matches && $("_tree")) $("_tree").open = false; // the summary first
  $("_controls").hidden = false;
  apply();
  follow();
  addEventListener("load", () => requestAnimationFrame(follow)); // a browser takes the focus away when it has loaded
})();
