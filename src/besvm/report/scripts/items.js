// Draw samples and exemplars: pictures, lines or words.

class Pictures {
  constructor(name, about) { Object.assign(this, about, { name, height: 0, wide: false }); }

  async load() {
    [this.sizes, this.scales] = await Promise.all([read(`${this.name}-sizes`), read(`${this.name}-scale`)]);
  }

  // How many times a picture is enlarged to be about so many pixels large.
  factor(wanted) {
    const whole = Math.round(wanted / this.side);
    return this.side <= wanted / 1.5 ? Math.max(1, whole) : Math.min(1, wanted / this.side);
  }

  // The side of a square that every picture fits into.
  square(wanted) { return this.alike ? this.side * this.factor(wanted) : wanted; }

  // [width, height] of a drawn picture, and how many pixels of the screen one of the image is.
  extent(i, wanted) {
    const at = this.alike ? 0 : i;
    const f = this.fitted(i, wanted);
    return [this.sizes[2 * at + 1] * f, this.sizes[2 * at] * f, this.scales[at] * f];
  }

  fitted(i, wanted) {
    const at = this.alike ? 0 : i;
    const side = Math.max(this.sizes[2 * at], this.sizes[2 * at + 1]);
    if (this.alike) return this.factor(wanted);
    return side <= wanted / 1.5 ? Math.max(1, Math.floor(wanted / side)) : Math.min(1, wanted / side);
  }

  place(i) {
    const k = i % this.each;
    return [(k % this.columns) * this.step, Math.floor(k / this.columns) * this.step];
  }

  sheet(i) { return read(`${this.name}-sheet-${Math.floor(i / this.each)}`); }

  draw(i, wanted) {
    const f = this.fitted(i, wanted), [width, height] = this.extent(i, wanted), [x, y] = this.place(i);
    const node = make("span", {
      class: f > 1 ? "pic large" : "pic",
      style: {
        width: `${width}px`, height: `${height}px`,
        backgroundPosition: `${-x * f}px ${-y * f}px`, backgroundSize: `${this.columns * this.step * f}px auto`,
      },
    });
    this.sheet(i).then(url => { node.style.backgroundImage = `url(${url})`; });
    return node;
  }

  // The picture on a canvas, as large as it is kept, to be cut up.
  async canvas(i) {
    const [x, y] = this.place(i), at = this.alike ? 0 : i;
    const height = this.sizes[2 * at], width = this.sizes[2 * at + 1];
    const image = await loaded(await this.sheet(i));
    const canvas = make("canvas", { width, height });
    canvas.getContext("2d").drawImage(image, x, y, width, height, 0, 0, width, height);
    return canvas;
  }
}

const images = new Map();

function loaded(url) {
  if (!images.has(url)) {
    images.set(url, new Promise((done, failed) => {
      const image = new Image();
      image.onload = () => done(image);
      image.onerror = failed;
      image.src = url;
    }));
  }
  return images.get(url);
}

class Lines {
  constructor(name, about) { Object.assign(this, about, { name, wide: false }); }

  async load() {
    [this.values, this.range, this.lengths] = await Promise.all(
      ["lines", "range", "lengths"].map(part => read(`${this.name}-${part}`)));
    this.words = this.texts ? await read(`${this.name}-texts`) : null;
  }

  text(i) { return this.words ? this.words[i] : ""; }

  // The points of a channel in a box, from the bottom up.
  path(i, channel, width, height, top = 0) {
    const { points, channels, values } = this;
    const first = (i * channels + channel) * points;
    let path = "";
    for (let p = 0; p < points; p++) {
      const x = (p / (points - 1)) * width, y = top + (1 - values[first + p] / 255) * height;
      path += `${p ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    }
    return path;
  }

  // ``marked`` are stretches of moments [first, length, look] to show behind the line.
  draw(i, wanted, marked = []) {
    const width = wanted * 2.2, height = wanted;
    const node = makeSvg("svg", { class: "line", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const unit = width / Math.max(1, this.lengths[i] - 1);
    for (const [first, length, look = ""] of marked) {
      node.append(makeSvg("rect", { class: look, x: first * unit, y: 0, width: Math.max(2, (length - 1) * unit), height }));
    }
    for (let c = 0; c < this.channels; c++) node.append(makeSvg("path", { d: this.path(i, c, width, height) }));
    return node;
  }
}

class Texts {
  constructor(name, about) { Object.assign(this, about, { name, wide: true }); }
  async load() { this.words = await read(`${this.name}-texts`); }
  text(i) { return this.words[i]; }
  draw(i) { return make("span", { class: "text" }, this.words[i]); }
}

class Nothing {
  constructor() { this.wide = true; this.form = "none"; }
  async load() {}
  draw() { return make("span", { class: "text" }); }
}

const FORMS = { pictures: Pictures, lines: Lines, texts: Texts, none: Nothing };

function itemsOf(name, about) {
  return new FORMS[about.form](name, about);
}
