// The gallery of exemplars, by what they carry.

class ExemplarList {
  constructor(about, data, items, open) {
    Object.assign(this, { about, data, items });
    const all = Array.from({ length: about.n_exemplars }, (_, e) => e);
    this.order = all.sort((a, b) => data.carries[b] - data.carries[a]);
    this.rank = new Uint32Array(about.n_exemplars);
    this.order.forEach((e, place) => { this.rank[e] = place; });
    this.search = data.exemplarNames.map((name, e) => `${name}\n${data.exemplarClasses[e]}\n${items.text && data.drawn[e] ? items.text(data.drawn[e] - 1) : ""}`.toLowerCase());
    this.grid = new Grid(byId("exemplar-grid"), { draw: place => this.cell(this.places[place]), open, layout: width => this.layout(width) });
    byId("exemplar-search").addEventListener("input", () => this.refresh());
    byId("exemplar-class").addEventListener("change", () => this.refresh());
    byId("exemplar-clear").addEventListener("click", () => {
      byId("exemplar-search").value = byId("exemplar-class").value = "";
      this.refresh();
    });
    this.refresh();
  }

  // The class that being similar to an exemplar speaks for most.
  leansTo(e) {
    const { leaning, leans } = this.data, each = this.about.leaning;
    let best = e * each;
    for (let k = best; k < (e + 1) * each; k++) if (leans[k] > leans[best]) best = k;
    return leaning[best];
  }

  refresh() {
    const words = byId("exemplar-search").value.trim().toLowerCase().split(/\s+/).filter(Boolean), to = byId("exemplar-class").value;
    this.places = this.order.filter(e => (to === "" || this.leansTo(e) === Number(to)) && words.every(word => this.search[e].includes(word)));
    const all = this.places.length === this.order.length;
    byId("exemplar-count").textContent = all ? several(this.order.length, "exemplar") : `${counted(this.places.length)} of ${counted(this.order.length)}`;
    byId("exemplar-empty").hidden = this.places.length > 0;
    this.grid.show(this.places.length);
  }

  layout(width) {
    if (this.items.wide) return { columns: 1, width, height: 58 };
    const drawn = this.items.form === "lines" ? 62 : this.items.square(64);
    const columns = Math.max(1, Math.floor(width / (this.items.form === "lines" ? 164 : Math.max(96, drawn + 16))));
    return { columns, width: Math.floor(width / columns), height: drawn + 54 };
  }

  picture(e, wanted) {
    const drawn = this.data.drawn[e] - 1;
    if (drawn < 0) return make("span", { class: "blank", style: { width: `${wanted}px`, height: `${wanted}px` } }, "?");
    const frame = this.data.frames[e] || null;
    if (frame && this.items.form === "pictures") return framed(this.items.draw(drawn, wanted), frame, this.items.extent(drawn, wanted)[2], false);
    if (frame && this.items.form === "texts") return make("span", { class: "text" }, marked(this.items.text(drawn), [[frame[0], frame[0] + frame[1]]]));
    return this.items.draw(drawn, wanted, frame ? [frame] : []);
  }

  cell(e) {
    const own = this.data.exemplarClasses[e], to = this.about.classes[this.leansTo(e)], share = portion(this.data.carries[e]);
    const name = this.data.exemplarNames[e], label = `${name}${own ? `, of ${own}` : ""}: carries ${share}, leans to ${to}`;
    const node = make("button", { type: "button", class: this.items.wide ? "cell wide" : "cell centered", "aria-label": label, title: name });
    const words = make("span", { class: "words" }, own || `for ${to}`), sub = make("span", { class: "sub" }, share);
    if (!this.items.wide) node.append(make("span", { class: "drawn" }, this.picture(e, this.items.form === "lines" ? 62 : 64)), words, sub);
    else node.append(this.data.drawn[e] ? this.picture(e, 40) : make("span", { class: "text" }, name), make("span", { class: "side" }, words, make("br"), sub));
    return node;
  }
}
