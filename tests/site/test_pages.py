"""The built site: its links, and what a reader sees in a real browser, on a desk and a telephone, by day and night."""

import json
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from check_links import problems
from site_tutorials import ORDER

from browser import DESK, TELEPHONE, chromium, needs_chromium, set_colors, set_width

pytestmark = pytest.mark.slow
LONG = ["index", "start", "any-data", "benchmarks", "results", "command-line", "tutorials/first_steps"]
LONG += ["reference/commands", "reference/contract", "reference/names/besvm.BESVMClassifier", "architecture"]
SECTIONS = ("Start", "Tutorials", "How-to", "Ideas", "Choosing", "Reference", "Results", "Benchmarks", "Reliability")
SECTIONS += ("Large data", "Architecture", "Contributing")
CONTRAST = """
function light(color) {
  const linear = x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4;
  const [r, g, b] = color.match(/[\\d.]+/g).map(x => linear(x / 255));
  return .2126 * r + .7152 * g + .0722 * b;
}
function behind(element) {
  for (; element; element = element.parentElement) {
    const color = getComputedStyle(element).backgroundColor;
    if (!/, 0\\)|transparent/.test(color)) return color;
  }
  return getComputedStyle(document.body).backgroundColor;
}
const found = [];
const texts = "p, li, td, th, dt, pre, pre span, a, h1, h2".split(", ").map(name => "article " + name);
for (const element of document.querySelectorAll([...texts, ".sidebar-tree a"].join(", "))) {
  if (!element.innerText?.trim() || !element.offsetParent || element.closest(".headerlink")) continue;
  const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => x - y);
  const ratio = (b + .05) / (a + .05);
  if (ratio < 4) found.push(ratio.toFixed(1) + " " + element.tagName + ": " + element.innerText.slice(0, 40));
}
return [...new Set(found)];
"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def served(site):
    """The address of the site, served by this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def look(browser, address, width=DESK, scheme="light"):
    set_colors(browser, scheme)
    set_width(browser, width)
    browser.get(address)


def until(browser, script):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 20, 0.05).until(lambda _: browser.execute_script(script))


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    wrong, elsewhere = problems(site)
    assert wrong == []
    assert all(link.startswith(("http://", "https://")) for link in elsewhere)


@needs_chromium
@pytest.mark.parametrize("width", [TELEPHONE, DESK])
def test_no_page_is_wider_than_the_screen(browser, site, width):
    """Wide tables and code scroll within themselves."""
    too_wide = {}
    for page in sorted(site.rglob("*.html")):
        name = str(page.relative_to(site)).removesuffix(".html")
        if name.startswith("reference/names") and name not in LONG and len(name) % 5:  # one of five will do
            continue
        look(browser, page.as_uri(), width)
        wide = browser.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if wide > 0:
            too_wide[name] = wide
    assert too_wide == {}


@needs_chromium
def test_navigation_leads_to_every_section(browser, site):
    look(browser, (site / "index.html").as_uri())
    links = browser.find_elements("css selector", ".sidebar-tree a")
    named = {link.get_attribute("textContent"): link.get_attribute("href") for link in links}
    assert set(SECTIONS) <= set(named)
    for section in SECTIONS:
        browser.get(named[section])
        assert len(browser.find_element("css selector", "article").text) > 50, section
    cards = browser.get((site / "index.html").as_uri()) or browser.find_elements("css selector", ".sections a")
    assert len(cards) >= 9


@needs_chromium
def test_the_menu_opens_on_a_telephone(browser, site):
    look(browser, (site / "start.html").as_uri(), TELEPHONE)
    shown = "return document.querySelector('.sidebar-drawer').getBoundingClientRect().left >= 0"
    assert not browser.execute_script(shown)
    browser.find_element("css selector", ".mobile-header .nav-overlay-icon").click()
    until(browser, shown)
    browser.find_element("link text", "Reference").click()
    until(browser, "return location.pathname.endsWith('reference/index.html')")


@needs_chromium
@pytest.mark.parametrize("how", ["file", "server"])
def test_search_finds_names_and_words_without_a_network(browser, site, served, how):
    look(browser, (site / "index.html").as_uri() if how == "file" else served + "index.html")
    field = browser.find_element("css selector", ".sidebar-search")
    field.send_keys("KMedoidsBasis\n")
    until(browser, "return /KMedoidsBasis/.test(document.querySelector('#search-results')?.innerText ?? '')")
    link = browser.find_element("css selector", "#search-results li a")
    assert "KMedoidsBasis" in link.get_attribute("href")


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["index", "start", "reference/names/besvm.BESVMClassifier", "tutorials/first_steps"])
def test_text_is_legible(browser, site, page, scheme):
    look(browser, (site / f"{page}.html").as_uri(), scheme=scheme)
    background = browser.execute_script(
        "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    )
    assert (sum(background) < 150) == (scheme == "dark")
    assert browser.execute_script(CONTRAST) == []


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_of_tutorials_have_words_and_fit_the_colors(browser, site, scheme):
    """Drawings are dark in the dark; photos are left as they are."""
    inverted = set()
    for name in ORDER:
        look(browser, (site / "tutorials" / f"{name}.html").as_uri(), scheme=scheme)
        for image in browser.find_elements("css selector", "article section > img"):
            words, drawing = image.get_attribute("alt"), "drawing" in image.get_attribute("class").split()
            assert len(words) > 10, name
            assert words != name.replace("_", " ")
            inverted.add((drawing, "invert" in image.value_of_css_property("filter")))
    assert inverted == {(True, scheme == "dark"), (False, False)}


SIZES = """
const sizes = [...document.querySelectorAll("math")].map(m => m.getBoundingClientRect());
return sizes.map(r => [r.width, r.height]);
"""


@needs_chromium
def test_formulas_are_drawn(browser, site, tmp_path):
    from site_math import formula

    look(browser, (site / "reference" / "contract.html").as_uri())
    assert len(browser.execute_script(SIZES)) >= 2
    assert all(width > 5 and height > 5 for width, height in browser.execute_script(SIZES))
    page, fraction = tmp_path / "formulas.html", formula(r"\frac{a}{b}", "block")
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><p>{formula('a')}</p>{fraction}")
    browser.get(page.as_uri())
    (_, letter), (_, whole) = browser.execute_script(SIZES)
    assert whole > 1.5 * letter > 0


@needs_chromium
def test_pages_ask_nobody_else_for_anything(browser, served):
    browser.get_log("browser")
    asked = set()
    for page in LONG:
        look(browser, f"{served}{page}.html")
        entries = browser.execute_script("return JSON.stringify(performance.getEntriesByType('resource'))")
        asked |= {
            urlsplit(entry["name"]).hostname for entry in json.loads(entries) if not entry["name"].startswith("data:")
        }
        loaded = (
            "return [...document.images].filter(i => i.complete && !i.naturalWidth && i.offsetParent).map(i => i.src)"
        )
        assert browser.execute_script(loaded) == []
    assert asked == {"127.0.0.1"}
    log = [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]]
    assert log == []
