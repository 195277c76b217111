// Views, keys and colors; begins when the page is there.

const about = await read("about");
const [truth, predicted, confidence, names, ranked, rankedScores, rankedChances] = await Promise.all(
  ["truth", "predicted", "confidence", "names", "ranked", "ranked-scores"].map(read).concat(about.chances ? read("ranked-chances") : null));
const data = { truth, predicted, confidence, names, ranked, rankedScores, rankedChances, exemplarNames: [] };
const sampleItems = itemsOf("samples", about.samples);
await sampleItems.load();
let exemplarItems = null;
if (about.n_exemplars) {
  exemplarItems = itemsOf("exemplars", about.exemplars);
  const known = await read("exemplars");
  const [rival, chosen, pulls, pullSizes, totals, carries, drawn, leaning, leans] = await Promise.all(
    ["rival", "chosen", "pulls", "pull-sizes", "totals", "carries", "drawn", "leaning", "leans"].map(read));
  Object.assign(data, { rival, chosen, pulls, pullSizes, totals, carries, drawn, leaning, leans });
  data.nearer = about.centered ? await read("nearer") : null;
  Object.assign(data, { exemplarNames: known.names, exemplarClasses: known.classes, frames: known.frames });
  await exemplarItems.load();
}
const samples = new SampleList(about, data, sampleItems, place => go(`sample-${samples.places[place]}`));
const exemplars = about.n_exemplars ? new ExemplarList(about, data, exemplarItems, place => go(`exemplar-${exemplars.places[place]}`)) : null;
const detail = new Detail(about, data, samples, exemplars);
const views = ["overview", ...(exemplars ? ["exemplars"] : []), "samples"];
const gridOf = { samples: samples.grid, exemplars: exemplars?.grid };
const scrolled = {};
let view = "overview";

function go(hash, instead = false) {
  if (instead) { history.replaceState(null, "", `#${hash}`); route(); } else { location.hash = hash; }
}

function showView(name) {
  if (name !== view) scrolled[view] = scrollY;
  const changed = name !== view;
  view = name;
  for (const one of views) byId(`view-${one}`).hidden = one !== name;
  for (const link of document.querySelectorAll("[data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  if (changed) scrollTo({ top: scrolled[name] || 0, behavior: "instant" });
  gridOf[name]?.render();
}

function route() {
  const [kind, number] = location.hash.slice(1).split("-");
  if ((kind === "sample" && number < about.n) || (kind === "exemplar" && exemplars && number < about.n_exemplars)) {
    const list = kind === "sample" ? samples : exemplars;
    if (view !== `${kind}s` && !detail.dialog.open) showView(`${kind}s`);
    detail.show(kind, Number(number), list.places.indexOf(Number(number)), list.places.length);
    return;
  }
  detail.hide();
  showView(views.includes(kind) ? kind : "overview");
}

// The view behind what is open, from where it was opened.
function closeDetail() {
  const shown = detail.shown;
  go(view);
  if (!shown) return;
  const list = shown.kind === "sample" ? samples : exemplars, place = list.places.indexOf(shown.number);
  if (place >= 0 && view === `${shown.kind}s`) requestAnimationFrame(() => list.grid.go(place));
}

function step(by) {
  if (!detail.shown) return;
  const { kind, number } = detail.shown, list = kind === "sample" ? samples : exemplars;
  const place = list.places.indexOf(number), next = list.places[place + by];
  if (place >= 0 && next !== undefined) go(`${kind}-${next}`, true);
}

function openSamples(wanted) {
  samples.set(wanted);
  scrolled.samples = 0;
  detail.hide();
  if (view === "samples") scrollTo({ top: 0, behavior: "instant" });
  go("samples");
}

document.addEventListener("click", event => {
  const target = event.target.closest("[data-truth], [data-filter-verdict], [data-pulled], [data-exemplar]");
  if (!target) return;
  const { truth: of, predicted: as, filterVerdict, pulled, exemplar } = target.dataset;
  if (exemplar !== undefined) go(`exemplar-${exemplar}`);
  else if (pulled !== undefined) openSamples({ exemplar: Number(pulled) });
  else openSamples({ truth: of, predicted: as, verdict: filterVerdict, order: filterVerdict === "wrong" || of !== as ? "worst" : "given" });
});

const dark = matchMedia("(prefers-color-scheme: dark)");
function theme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("besvm-theme", name); } catch { /* a page of a file may not remember it */ }
}
function switchTheme() {
  const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  theme(now === "dark" ? "light" : "dark");
}
try { const kept = localStorage.getItem("besvm-theme"); if (kept) theme(kept); } catch { /* likewise */ }
byId("theme").addEventListener("click", switchTheme);
byId("show-keys").addEventListener("click", () => byId("keys").showModal());
byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
byId("close").addEventListener("click", closeDetail);
detail.dialog.addEventListener("cancel", event => { event.preventDefault(); closeDetail(); });
detail.dialog.addEventListener("close", () => { if (detail.shown) closeDetail(); }); // by the browser itself
detail.dialog.addEventListener("click", event => { if (event.target === detail.dialog) closeDetail(); }); // beside it
addEventListener("hashchange", route);

document.addEventListener("keydown", event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const typing = event.target.matches("input[type=search], select"), open = document.querySelector("dialog[open]");
  if (detail.dialog.open && !typing && event.key === "ArrowLeft" && event.target.type !== "radio") return step(-1);
  if (detail.dialog.open && !typing && event.key === "ArrowRight" && event.target.type !== "radio") return step(1);
  if (typing && event.key === "Escape") {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
    event.target.blur();
  }
  if (typing && (event.key === "ArrowDown" || event.key === "Enter") && event.target.type === "search") {
    event.preventDefault();
    return gridOf[view]?.go(0);
  }
  if (typing || open) return;
  if (event.key === "/") {
    event.preventDefault();
    if (view === "overview") { go("samples"); requestAnimationFrame(() => requestAnimationFrame(() => byId("search").focus())); }
    else byId(view === "exemplars" ? "exemplar-search" : "search").focus();
  } else if (event.key === "?") byId("keys").showModal();
  else if (event.key === "t") switchTheme();
  else if (["1", "2", "3"].includes(event.key) && views[event.key - 1]) go(views[event.key - 1]);
  else if (event.key.startsWith("Arrow") && gridOf[view] && document.activeElement === document.body) {
    event.preventDefault();
    gridOf[view].go(gridOf[view].active);
  }
});

for (const table of document.querySelectorAll(".sortable")) {
  table.tHead.addEventListener("click", event => {
    const heading = event.target.closest("th"), column = heading?.cellIndex;
    if (column === undefined) return;
    const down = heading.ariaSort !== "descending", body = table.tBodies[0];
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    const rows = Array.from(body.rows).sort((a, b) => column ? value(b) - value(a) : value(b).localeCompare(value(a)));
    body.append(...(down ? rows : rows.reverse()));
  });
}

route();
document.documentElement.dataset.ready = "yes";
