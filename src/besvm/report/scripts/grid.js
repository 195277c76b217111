// A list of any length in the page itself: only what can be seen is there.

class Grid {
  // ``draw(place)`` returns a button; ``open(place)`` is called when it is pressed; ``layout(width)`` says how large
  // cells are: { columns, width, height }.
  constructor(root, { draw, open, layout }) {
    Object.assign(this, { root, draw, open, layout, count: 0, active: 0, cells: new Map(), waiting: false });
    addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.later(true)).observe(root);
    root.addEventListener("keydown", event => this.key(event));
    root.addEventListener("click", event => {
      const cell = event.target.closest("[data-place]");
      if (cell) this.open(Number(cell.dataset.place));
    });
    root.addEventListener("focusin", event => {
      const cell = event.target.closest("[data-place]");
      if (cell) this.activate(Number(cell.dataset.place));
    });
  }

  show(count) {
    this.count = count;
    this.active = 0;
    this.clear();
    this.render();
  }

  clear() {
    for (const cell of this.cells.values()) cell.remove();
    this.cells.clear();
  }

  later(anew = false) {
    this.anew = this.anew || anew;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.render(); });
  }

  render() {
    const width = this.root.clientWidth;
    if (!width) return; // it is hidden
    const size = this.layout(width);
    if (this.anew && JSON.stringify(size) !== JSON.stringify(this.size)) this.clear();
    this.anew = false;
    this.size = size;
    const rows = Math.ceil(this.count / size.columns);
    this.root.style.height = `${rows * size.height}px`;
    const top = -this.root.getBoundingClientRect().top, spare = innerHeight / 2;
    const first = Math.max(0, Math.floor((top - spare) / size.height)) * size.columns;
    const last = Math.min(this.count, Math.ceil((top + innerHeight + spare) / size.height) * size.columns);
    const focused = this.root.contains(document.activeElement) ? this.active : -1;
    for (const [place, cell] of this.cells) {
      if ((place < first || place >= last) && place !== focused) { cell.remove(); this.cells.delete(place); }
    }
    const fresh = document.createDocumentFragment();
    for (let place = first; place < last; place++) if (!this.cells.has(place)) fresh.append(this.place(place));
    this.root.append(fresh);
  }

  place(place) {
    const { columns, width, height } = this.size, cell = this.draw(place);
    cell.dataset.place = place;
    cell.setAttribute("role", "option");
    cell.setAttribute("aria-posinset", place + 1);
    cell.setAttribute("aria-setsize", this.count);
    cell.setAttribute("aria-selected", place === this.active);
    cell.tabIndex = place === this.active ? 0 : -1;
    Object.assign(cell.style, {
      left: `${(place % columns) * width}px`, top: `${Math.floor(place / columns) * height}px`, width: `${width}px`, height: `${height}px`,
    });
    this.cells.set(place, cell);
    return cell;
  }

  activate(place) {
    for (const [at, on] of [[this.active, false], [place, true]]) {
      const cell = this.cells.get(at);
      if (cell) { cell.tabIndex = on ? 0 : -1; cell.setAttribute("aria-selected", on); }
    }
    this.active = place;
  }

  // Bring a place into sight and, if asked, give it the focus.
  go(place, focus = true) {
    if (!this.count || !this.size) return;
    place = Math.max(0, Math.min(this.count - 1, place));
    const { columns, height } = this.size;
    const start = this.root.getBoundingClientRect().top + scrollY, y = start + Math.floor(place / columns) * height;
    const covered = 150; // by the bars above
    if (y < scrollY + covered) scrollTo({ top: y - covered, behavior: "instant" });
    else if (y + height > scrollY + innerHeight) scrollTo({ top: y + height - innerHeight + 12, behavior: "instant" });
    this.activate(place);
    this.render();
    if (focus) this.cells.get(place)?.focus({ preventScroll: true });
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { columns, height } = this.size, page = columns * Math.max(1, Math.floor(innerHeight / height) - 2);
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, PageUp: -page, PageDown: page };
    const target = { Home: 0, End: this.count - 1 }[event.key] ?? (event.key in steps ? this.active + steps[event.key] : null);
    if (target === null) return;
    event.preventDefault();
    this.go(target);
  }
}
