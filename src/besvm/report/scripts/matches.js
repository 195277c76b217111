// Draw how a sample and an exemplar match.

const PICTURE = 96; // pixels of a picture beside another

// Return the match of a sample with the exemplar in one of its places; null if none is kept.
async function matchOf(about, sample, side, slot) {
  const { chunk, pairs } = about.matches || {};
  if (!pairs) return null;
  const name = `matches-${Math.floor(sample / chunk)}`;
  if (!pieces.has(name) && !hasPiece(name)) return null;
  return (await read(name))[sample % chunk][`${side}-${slot}`] || null;
}

// A frame on a picture: [top, left, height, width] in pixels of the image.
function framed(picture, box, scale, mirrored, look = "") {
  const [top, left, height, width] = box.map(value => `${value * scale}px`);
  return make("span", { class: "framed" }, picture,
    make("span", { class: `frame ${look}`, style: { top, left, height, width, borderStyle: mirrored ? "dashed" : "solid" } }));
}

// Where a part was found: in a picture [top, left, height, width] in pixels of the image, elsewhere [first, length].
function boxOf(match, samples, sample) {
  if (samples.form !== "pictures") return [match.place[0], (match.step || 1) * (match.size[0] - 1) + 1];
  const [, height, scale] = samples.extent(sample, PICTURE), cell = height / scale / match.grid[0];
  return [...match.place, ...match.size].map(value => value * cell);
}

// A sample with the places of some parts marked.
function spotted(samples, sample, wanted, spots) {
  const boxes = spots.filter(({ match }) => samples.form !== "pictures" || match.grid).map(({ match, look }) => ({ box: boxOf(match, samples, sample), match, look }));
  if (samples.form === "texts") return marked(samples.text(sample), boxes.map(({ box: [first, length], look }) => [first, first + length, look]));
  if (samples.form === "lines") return samples.draw(sample, wanted, boxes.map(({ box, look }) => [...box, look]));
  return boxes.reduce((node, { box, match, look }) => framed(node, box, samples.extent(sample, wanted)[2], match.flip, look), samples.draw(sample, wanted));
}

// The exemplar's picture, its cells where the sample found them.
async function rearranged(samples, exemplars, sample, drawn, match) {
  const [still, mover] = match.on === "exemplar" ? [[exemplars, drawn], [samples, sample]] : [[samples, sample], [exemplars, drawn]];
  const from = await mover[0].canvas(mover[1]);
  const [rows, columns] = match.grid, [w, h] = still[0].extent(still[1], PICTURE);
  const canvas = make("canvas", { width: from.width, height: from.height, style: { width: `${w}px`, height: `${h}px` }, class: "pic large" });
  const draw = canvas.getContext("2d");
  const cw = from.width / columns, ch = from.height / rows, same = match.moves.length === 2;
  const flipped = match.flip && match.on !== "exemplar";
  if (flipped) { draw.translate(from.width, 0); draw.scale(-1, 1); }
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const k = same ? 0 : 2 * (r * columns + c);
      const y = r + match.moves[k], x = c + match.moves[k + 1];
      if (y < 0 || x < 0 || y >= rows || x >= columns) continue;
      const [xs, xt] = flipped ? [columns - 1 - x, columns - 1 - c] : [x, c];
      draw.drawImage(from, xs * cw, y * ch, cw, ch, xt * cw, r * ch, cw, ch);
    }
  }
  return canvas;
}

// Two lines, one above the other, and strands between the moments that were paired.
function strands(samples, exemplars, sample, drawn, pairs) {
  const width = 340, height = 46, gap = 26, total = 2 * height + gap;
  const node = makeSvg("svg", { class: "strands", width, height: total, viewBox: `0 0 ${width} ${total}`, style: "max-width: 100%; height: auto", role: "img",
    "aria-label": "Which moments of the sample, above, were paired with which of the exemplar, below" });
  const n = Math.max(1, samples.lengths[sample] - 1), m = Math.max(1, exemplars.lengths[drawn] - 1);
  const at = (items, i, share, top) => {
    const place = Math.round(share * (items.points - 1));
    return top + (1 - items.values[i * items.channels * items.points + place] / 255) * height;
  };
  for (const [a, b] of pairs) {
    node.append(makeSvg("line", {
      x1: (a / n) * width, y1: at(samples, sample, a / n, 0), x2: (b / m) * width, y2: at(exemplars, drawn, b / m, height + gap),
    }));
  }
  node.append(makeSvg("path", { d: samples.path(sample, 0, width, height) }));
  node.append(makeSvg("path", { d: exemplars.path(drawn, 0, width, height, height + gap), class: "other" }));
  return node;
}

// A text with the pieces marked that it has in common with another.
function marked(text, spans) {
  const node = make("span");
  let at = 0;
  const letters = Array.from(text); // places count characters, not halves of them
  for (const [from, to, look] of [...spans].sort((a, b) => a[0] - b[0])) {
    if (from < at || to > letters.length) continue;
    node.append(letters.slice(at, from).join(""), make("mark", { class: typeof look === "string" ? look : null }, letters.slice(from, to).join("")));
    at = to;
  }
  node.append(letters.slice(at).join(""));
  return node;
}

function valueTable(values) {
  const table = make("table", { class: "values" }, make("tr", {}, ...["", "sample", "exemplar", "alike"].map(text => make("th", {}, text))));
  for (const [name, x, b, alike] of values.slice(0, 12)) {
    table.append(make("tr", {}, ...[name, x, b, percent(alike)].map(text => make("td", {}, text))));
  }
  return table;
}

const captioned = (node, words) => make("figure", {}, node, make("figcaption", {}, words));

// Return what there is to see of a match, to be put under an exemplar; null if there is nothing.
async function drawMatch(match, samples, exemplars, sample, drawn) {
  if (!match) return null;
  const both = samples.form === exemplars.form && drawn >= 0;
  let body = null;
  if (match.moves && both && samples.form === "pictures") {
    if (match.flip || match.moves.some(Boolean)) {
      const [still, moved] = match.on === "exemplar" ? ["the exemplar", "the sample"] : ["the sample", "the exemplar"];
      const first = match.on === "exemplar" ? exemplars.draw(drawn, PICTURE) : samples.draw(sample, PICTURE);
      body = make("div", { class: "pairing" }, captioned(first, still), captioned(await rearranged(samples, exemplars, sample, drawn, match), `${moved}, moved to match`));
    }
  } else if (match.place && samples.form !== "none" && (samples.form !== "pictures" || match.grid)) {
    const found = spotted(samples, sample, samples.form === "lines" ? 56 : PICTURE, [{ match, look: "" }]);
    body = samples.form === "texts" ? make("p", {}, found) : make("div", { class: "pairing" }, captioned(found, "where the part was found"));
  } else if (match.pairs && both && samples.form === "lines") {
    body = strands(samples, exemplars, sample, drawn, match.pairs);
  } else if (match.pieces && samples.form === "texts") {
    body = make("p", {}, marked(samples.text(sample), match.pieces));
    if (both) body.append(make("br"), marked(exemplars.text(drawn), match.pieces.map(piece => piece.slice(2))));
  } else if (match.values) {
    body = valueTable(match.values);
  }
  const caption = match.caption ? make("p", { class: "note" }, match.caption) : null;
  return body || caption ? make("div", { class: "match" }, body, caption) : null;
}
