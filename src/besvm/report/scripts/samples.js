// The list of samples: search, filters and order.

class SampleList {
  constructor(about, data, items, open) {
    Object.assign(this, { about, data, items, exemplar: null });
    this.places = new Uint32Array(0);
    this.search = data.names.map((name, i) => `${name}\n${about.classes[data.truth[i]]}\n${items.text ? items.text(i) : ""}`.toLowerCase());
    this.grid = new Grid(byId("sample-grid"), { draw: place => this.cell(this.places[place]), open, layout: width => this.layout(width) });
    this.controls = { search: byId("search"), truth: byId("truth"), predicted: byId("predicted"), order: byId("order") };
    this.controls.search.addEventListener("input", () => this.refresh());
    for (const name of ["truth", "predicted", "order"]) this.controls[name].addEventListener("change", () => this.refresh());
    for (const radio of document.getElementsByName("verdict")) radio.addEventListener("change", () => this.refresh());
    for (const id of ["clear", "clear-empty"]) byId(id).addEventListener("click", () => this.set({}));
    byId("exemplar-filter").addEventListener("click", () => { this.exemplar = null; this.refresh(); });
    this.refresh();
  }

  get verdict() { return document.querySelector("[name=verdict]:checked").value; }

  // Show the samples of some kind only.
  set({ truth = "", predicted = "", verdict = "", search = "", exemplar = null, order = "given" }) {
    Object.assign(this.controls.truth, { value: truth });
    Object.assign(this.controls.predicted, { value: predicted });
    Object.assign(this.controls.search, { value: search });
    Object.assign(this.controls.order, { value: order });
    for (const radio of document.getElementsByName("verdict")) radio.checked = radio.value === verdict;
    this.exemplar = exemplar;
    this.refresh();
  }

  refresh() {
    const { truth, predicted, confidence } = this.data, { verdict, exemplar } = this;
    const wanted = this.controls.search.value.trim().toLowerCase(), words = wanted ? wanted.split(/\s+/) : [];
    const [of, as] = [this.controls.truth.value, this.controls.predicted.value];
    const found = [];
    for (let i = 0; i < this.about.n; i++) {
      if (of !== "" && truth[i] !== Number(of)) continue;
      if (as !== "" && predicted[i] !== Number(as)) continue;
      if (verdict && (truth[i] === predicted[i]) !== (verdict === "right")) continue;
      if (words.length && !words.every(word => this.search[i].includes(word))) continue;
      if (exemplar !== null && !this.pulledBy(i, exemplar)) continue;
      found.push(i);
    }
    const sure = i => (truth[i] === predicted[i] ? -1e9 : 0) + confidence[i];
    const orders = { unsure: (a, b) => confidence[a] - confidence[b], sure: (a, b) => confidence[b] - confidence[a], worst: (a, b) => sure(b) - sure(a) };
    if (orders[this.controls.order.value]) found.sort(orders[this.controls.order.value]);
    this.places = Uint32Array.from(found);
    byId("count").textContent = found.length === this.about.n ? several(found.length, "sample") : `${counted(found.length)} of ${counted(this.about.n)}`;
    byId("clear").hidden = !(of || as || verdict || words.length || exemplar !== null);
    byId("empty").hidden = found.length > 0;
    byId("exemplar-filter").hidden = exemplar === null;
    if (exemplar !== null) byId("exemplar-filter").textContent = `pulled by ${this.data.exemplarNames[exemplar]} ✕`;
    this.grid.show(found.length);
  }

  pulledBy(sample, exemplar) {
    const { chosen } = this.data, each = 2 * this.about.shown;
    for (let k = sample * each; k < (sample + 1) * each; k++) if (chosen[k] === exemplar + 1) return true;
    return false;
  }

  layout(width) {
    if (this.items.wide) return { columns: 1, width, height: 62 };
    const least = this.items.form === "lines" ? 164 : Math.max(90, this.items.square(64) + 16);
    const columns = Math.max(1, Math.floor(width / least));
    const drawn = this.items.form === "lines" ? 62 : this.items.square(64);
    return { columns, width: Math.floor(width / columns), height: drawn + 54 };
  }

  cell(i) {
    const { truth, predicted, confidence } = this.data, { classes } = this.about;
    const right = truth[i] === predicted[i], name = this.data.names[i];
    const sure = this.about.chances ? `${(100 * confidence[i]).toFixed(0)} %` : `lead ${confidence[i].toPrecision(2)}`;
    const label = `${name}: ${right ? `${classes[truth[i]]}, right` : `${classes[truth[i]]} taken for ${classes[predicted[i]]}`}, ${sure}`;
    const drawn = make("span", { class: this.items.wide ? "text" : "drawn" }, this.items.draw(i, this.items.form === "lines" ? 62 : 64));
    const words = make("span", { class: "words" }, classes[truth[i]]);
    const sub = make("span", { class: right ? "sub" : "sub wrong" }, right ? sure : `→ ${classes[predicted[i]]} ${sure}`);
    const node = make("button", { type: "button", class: this.items.wide ? "cell wide" : "cell centered", "aria-label": label, title: name });
    if (!this.items.wide) node.append(drawn, words, sub);
    else if (this.items.form === "none") node.append(make("span", { class: "text" }, name), make("span", { class: "side" }, words, make("br"), sub));
    else node.append(drawn, make("span", { class: "side" }, words, make("br"), sub));
    return node;
  }
}
