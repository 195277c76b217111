// Read the pieces of data that lie in this page.

const nodeOf = name => document.getElementById(`piece-${name}`);
const hasPiece = name => nodeOf(name) !== null;

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

const pieces = new Map();

// Return what a piece holds: plain values, an array of numbers, or the address of a picture. Each is unpacked once.
function read(name) {
  if (!pieces.has(name)) pieces.set(name, unpack(nodeOf(name)));
  return pieces.get(name);
}

const ARRAYS = { Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array };

async function unpack(node) {
  const form = node.dataset.form;
  const bytes = bytesOf(node.textContent);
  node.remove(); // the text is not needed any more
  if (form.startsWith("image/")) return URL.createObjectURL(new Blob([bytes], { type: form }));
  const buffer = await inflated(bytes);
  return form === "json" ? JSON.parse(new TextDecoder().decode(buffer)) : new ARRAYS[form](buffer);
}

// Make an element; what comes from data only ever becomes text or an attribute.
function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "style") Object.assign(node.style, value);
    else if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (key === "data") Object.assign(node.dataset, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

function makeSvg(tag, properties = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(properties)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const byId = id => document.getElementById(id);
const percent = share => (share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`);
const portion = share => `${(100 * share).toPrecision(2)} %`; // of what many have a part in
const signed = value => `${value < 0 ? "−" : "+"}${Math.abs(value).toPrecision(3)}`;
const counted = n => n.toLocaleString("en-US");
const several = (n, one) => `${counted(n)} ${one}${n === 1 ? "" : "s"}`;
