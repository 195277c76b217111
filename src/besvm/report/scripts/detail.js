// One sample or one exemplar, close up.

const NAMED = 3; // measures that are named of those that count most

// What the measures that count most add, and the others together.
function byMeasure(split) {
  const order = [...split].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])), named = order.length > NAMED + 1 ? NAMED : order.length;
  const words = order.slice(0, named).map(([name, value]) => `${name} ${signed(value)}`), left = order.slice(named);
  if (left.length) words.push(`${left.length} others ${signed(left.reduce((sum, [, value]) => sum + value, 0))}`);
  return words.join(", ");
}

class Detail {
  constructor(about, data, samples, exemplars) {
    Object.assign(this, { about, data, samples, exemplars, shown: null, turn: 0 });
    this.dialog = byId("detail");
    this.body = byId("detail-body");
  }

  async show(kind, number, place, count) {
    const turn = ++this.turn;
    const parts = kind === "sample" ? await this.sample(number) : this.exemplar(number);
    if (turn !== this.turn) return; // another was asked for meanwhile
    this.shown = { kind, number };
    this.body.replaceChildren(...parts.filter(Boolean));
    byId("position").textContent = place >= 0 ? `${counted(place + 1)} of ${counted(count)}` : "";
    byId("previous").disabled = place <= 0;
    byId("next").disabled = place < 0 || place >= count - 1;
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }

  hide() {
    this.turn++;
    this.shown = null;
    if (this.dialog.open) this.dialog.close();
  }

  async sample(i) {
    const { truth, predicted } = this.data, { classes } = this.about, right = truth[i] === predicted[i];
    const verdict = right
      ? make("p", { class: "verdict" }, make("b", { class: "right" }, "Right: "), classes[truth[i]])
      : make("p", { class: "verdict" }, make("b", { class: "wrong" }, "Wrong: "), `${classes[truth[i]]}, taken for ${classes[predicted[i]]}`);
    const items = this.samples.items, words = items.text ? items.text(i) : "", spots = await this.spots(i);
    const drawn = items.form === "texts" || items.form === "none" ? null : make("div", { class: "item" }, spotted(items, i, items.form === "lines" ? 110 : 160, spots));
    const text = words ? make("p", { class: "whole" }, items.form === "texts" ? spotted(items, i, 0, spots) : words) : null;
    const parts = [make("h2", { id: "detail-title" }, this.data.names[i]), verdict, text, make("div", { class: "head" }, drawn, this.ranks(i))];
    if (spots.length) parts.push(this.legend(spots, classes[predicted[i]]));
    return this.exemplars ? [...parts, ...await this.why(i)] : parts;
  }

  // Where in a sample the parts were found that speak most for the predicted class, and against it.
  async spots(i) {
    const { shown, towards } = this.about, found = [];
    if (!this.exemplars) return found;
    const matches = await Promise.all(Array.from({ length: shown }, (_, slot) => matchOf(this.about, i, 0, slot)));
    for (const [look, some] of [["for", matches.slice(0, towards)], ["against", matches.slice(towards)]]) {
      const match = some.find(one => one?.place);
      if (match) found.push({ match, look });
    }
    return found;
  }

  legend(spots, name) {
    const words = { for: `the part that speaks most for ${name}`, against: "the one that speaks most against it" };
    return make("ul", { class: "legend spots" }, ...spots.map(({ look }) => make("li", { class: look }, words[look])));
  }

  ranks(i) {
    const { ranked: each, classes, chances } = this.about, { ranked, rankedScores, rankedChances, truth } = this.data;
    const list = make("ol", { class: "ranks", "aria-label": "Classes" });
    const scores = Array.from({ length: each }, (_, k) => rankedScores[i * each + k]), top = Math.max(...scores), low = Math.min(0, ...scores);
    for (let k = 0; k < each; k++) {
      const at = i * each + k, c = ranked[at], share = chances ? rankedChances[at] : (scores[k] - low) / (top - low || 1);
      const value = chances ? percent(rankedChances[at]) : scores[k].toPrecision(3);
      list.append(make("li", { class: c === truth[i] ? "true" : null, title: `score ${scores[k].toPrecision(4)}` },
        make("span", {}, classes[c]), make("span", { class: "meter" }, make("i", { style: { width: `${100 * share}%` } })), make("span", {}, value)));
    }
    return list;
  }

  async why(i) {
    const { classes } = this.about, both = [this.data.predicted[i], this.data.rival[i]];
    const lists = await Promise.all(both.map((c, side) => this.pulls(i, side, c)));
    const choice = make("fieldset", { class: "segments", "aria-label": "Class to explain" });
    both.forEach((c, side) => {
      const radio = make("input", { type: "radio", name: "why", value: side, checked: side === 0 });
      radio.addEventListener("change", () => lists.forEach((list, k) => { list.hidden = k !== side; }));
      choice.append(make("label", {}, radio, make("span", {}, classes[c])));
    });
    lists[1].hidden = true;
    const kept = this.about.matches?.all === false ? make("p", { class: "note" }, "To keep this page small, it shows how only the strongest exemplars match.") : null;
    return [make("h3", {}, "What speaks for and against"), choice, ...lists, kept];
  }

  async pulls(i, side, c) {
    const { shown, measures, constants, n_exemplars: n } = this.about, { chosen, pulls, pullSizes, totals } = this.data;
    const list = make("ul", { class: "pulls" }), rows = [];
    for (let slot = 0; slot < shown; slot++) {
      const at = (2 * i + side) * shown + slot, e = chosen[at] - 1;
      if (e < 0) continue;
      const each = Array.from(measures, (_, m) => (pulls[at * measures.length + m] / 32767) * pullSizes[i]);
      rows.push({ e, slot, each, total: each.reduce((sum, value) => sum + value, 0) });
    }
    const largest = Math.max(...rows.map(row => Math.abs(row.total)), 1e-12);
    list.append(...await Promise.all(rows.map(row => this.pull(i, side, row, largest))));
    const sum = totals[2 * i + side], rest = sum - constants[c] - rows.reduce((all, row) => all + row.total, 0);
    const others = n - rows.length;
    const text = `All ${counted(n)} exemplars and the constant ${signed(constants[c])} add up to ${signed(sum)} for ${this.about.classes[c]}`
      + (others > 0 ? `; the other ${counted(others)} add ${signed(rest)}.` : ".");
    return make("div", {}, list, make("p", { class: "note" }, text + (this.about.votes ? " The class is decided by votes between pairs." : "")));
  }

  async pull(i, side, { e, slot, each, total }, largest) {
    const { exemplars: gallery, data, about } = this, drawn = data.drawn[e] - 1, own = data.exemplarClasses[e];
    const found = await matchOf(about, i, side, slot);
    const stacked = gallery.items.wide || (gallery.items.form === "lines" && !found?.place);
    const match = await drawMatch(found, this.samples.items, gallery.items, i, drawn);
    const both = match && (found.pairs || found.pieces) && drawn >= 0; // the exemplar is drawn there too
    const split = about.measures.map((name, m) => [name, each[m]]).filter(([, value]) => value);
    const share = Math.abs(total) / largest;
    return make("li", {}, make("div", { class: stacked ? "pull stacked" : "pull" },
      both ? null : make("button", { type: "button", class: "drawn", "aria-label": `Open ${data.exemplarNames[e]}`, data: { exemplar: e } }, gallery.picture(e, stacked || gallery.items.form === "lines" ? 56 : 96)),
      make("div", {},
        make("p", {}, make("button", { type: "button", class: "link name", data: { exemplar: e } }, own || data.exemplarNames[e]),
          own ? make("small", {}, ` ${data.exemplarNames[e]}`) : null, this.compared(i, side, slot)),
        make("div", { class: "amount" },
          make("span", { class: "meter" }, make("i", { class: total < 0 ? "minus" : null, style: { width: `${100 * share}%` } })),
          make("b", { class: total < 0 ? "minus" : "plus" }, signed(total))),
        split.length > 1 ? make("p", { class: "note" }, byMeasure(split)) : null,
        match)));
  }

  // Whether a sample is more or less similar to an exemplar than samples usually are: both can speak for a class.
  compared(i, side, slot) {
    const sign = this.data.nearer?.[(2 * i + side) * this.about.shown + slot];
    return sign ? make("span", { class: "usual" }, sign > 0 ? "more similar than usual" : "less similar than usual") : null;
  }

  exemplar(e) {
    const { data, about, exemplars: gallery } = this, each = about.leaning;
    const own = data.exemplarClasses[e], list = make("ol", { class: "ranks", "aria-label": "What it weighs for classes" });
    let largest = 1e-12;
    for (let k = 0; k < each; k++) largest = Math.max(largest, Math.abs(data.leans[e * each + k]));
    for (let k = 0; k < each; k++) {
      const value = data.leans[e * each + k], width = (50 * Math.abs(value)) / largest;
      list.append(make("li", {}, make("span", {}, about.classes[data.leaning[e * each + k]]),
        make("span", { class: "meter signed" }, make("i", { class: value < 0 ? "minus" : null, style: { left: `${value < 0 ? 50 - width : 50}%`, width: `${width}%` } })),
        make("span", {}, signed(value))));
    }
    let among = 0;
    for (let i = 0; i < about.n; i++) among += this.samples.pulledBy(i, e);
    const button = make("button", { type: "button", data: { pulled: e } }, `Show ${several(among, "sample")}`);
    return [
      make("h2", { id: "detail-title" }, data.exemplarNames[e]),
      make("p", { class: "verdict" }, own ? `Of class ${own}. ` : "", `Carries ${portion(data.carries[e])}: number ${counted(gallery.rank[e] + 1)} of ${counted(about.n_exemplars)}.`),
      make("div", { class: "head" }, make("div", { class: "item" }, gallery.picture(e, gallery.items.form === "lines" ? 110 : 160)), list),
      make("p", { class: "note" }, "Being similar to it speaks for the classes whose bars go to the right, and against those whose bars go to the left."),
      make("h3", {}, "Where it counts"),
      make("p", {}, among ? button : "It is not among the strongest for any sample listed.", among ? " for which it is among the strongest." : ""),
    ];
  }
}
