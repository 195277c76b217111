"""The page in a real browser: it loads, complains of nothing, and every control does what it says."""

import numpy as np
import pytest

from besvm import BESVMClassifier
from besvm.report import write_page
from browser import DESK, TELEPHONE, chromium, needs_chromium, set_colors, set_width
from report_data import HOSTILE, TRIED

pytestmark = needs_chromium
KEYS = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015", "enter": "\ue007", "escape": "\ue00c"}


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        set_colors(one)
        yield one


@pytest.fixture(scope="module")
def page(digit_page):
    return digit_page


@pytest.fixture(scope="module")
def wrong(digit_model, frames):
    return np.flatnonzero(digit_model.predict(frames[2]) != frames[3])


class Look:
    """A page in the browser, with what a user does."""

    def __init__(self, browser, page, width=DESK, hash_=""):
        self.browser = browser
        browser.get_log("browser")
        set_width(browser, width)
        browser.get("about:blank")  # so that another part of the same page is loaded anew
        browser.get(page.as_uri() + hash_)
        self.until("return document.documentElement.dataset.ready === 'yes'")

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def until(self, script, *arguments):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 10, 0.02).until(lambda _: self.js(script, *arguments))

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.find(selector).click()

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.browser).send_keys(KEYS.get(key, key)).perform()

    def shown(self, view):
        return self.until(f"return !document.getElementById('view-{view}').hidden")

    def open(self):
        self.until("return document.getElementById('detail').open")
        return self.js("return document.getElementById('detail-title').textContent")

    def closed(self):
        return self.until("return !document.getElementById('detail').open")

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).innerText", selector)

    @property
    def log(self):
        return self.browser.get_log("browser")


def test_it_loads_and_nothing_complains(browser, page):
    look = Look(browser, page)
    assert "%" in look.text("#accuracy")
    for view in ("exemplars", "samples", "overview"):
        look.click(f'[data-view="{view}"]')
        assert look.shown(view)
    look.js("location.hash = '#sample-0'")
    assert look.open() == "sample 0"
    assert look.log == []
    assert (
        look.js("return performance.getEntriesByType('resource').filter(r => !r.name.startsWith('blob:')).length") == 0
    )


def test_the_confusion_matrix_opens_the_confused_samples(browser, page, digit_model, frames, wrong):
    look = Look(browser, page)
    truth, predicted = frames[3][wrong[0]], digit_model.predict(frames[2][wrong[:1]])[0]
    count = ((frames[3] == truth) & (digit_model.predict(frames[2]) == predicted)).sum()
    selector = f'.matrix [data-truth="{truth}"][data-predicted="{predicted}"]'
    assert look.text(selector) == str(count)
    look.click(selector)
    assert look.shown("samples")
    assert look.text("#count") == f"{count} of {TRIED}"
    assert look.js("return document.querySelectorAll('#sample-grid .cell').length") == count
    look.click("#clear")
    assert look.text("#count") == f"{TRIED} samples"
    assert look.log == []


def test_filters_search_and_order(browser, page, frames, wrong):
    look = Look(browser, page, hash_="#samples")
    look.click("#view-samples .segments label:nth-of-type(2)")
    assert look.text("#count") == f"{len(wrong)} of {TRIED}"
    look.click("#view-samples .segments label:nth-of-type(3)")
    assert look.text("#count") == f"{TRIED - len(wrong)} of {TRIED}"
    look.click("#clear")
    look.js("const s = document.getElementById('truth'); s.value = '3'; s.dispatchEvent(new Event('change'))")
    assert look.text("#count") == f"{(frames[3] == 3).sum()} of {TRIED}"
    look.click("#clear")
    look.press("/", *"sample 11")
    assert look.js("return document.activeElement.id") == "search"
    assert look.text("#count") == f"11 of {TRIED}"  # 11, and 110 to 119
    look.press(*"xyz")
    assert look.find("#empty").is_displayed()
    look.press("escape")
    assert look.text("#count") == f"{TRIED} samples"
    look.js("const s = document.getElementById('order'); s.value = 'unsure'; s.dispatchEvent(new Event('change'))")
    sure = look.js(
        "return [...document.querySelectorAll('#sample-grid .cell')].sort((a, b) => a.dataset.place - b.dataset.place)"
        ".map(c => parseFloat(c.getAttribute('aria-label').split(', ').at(-1)))"
    )
    assert sure == sorted(sure)
    assert look.log == []


def test_the_keyboard_does_it_all(browser, page):
    look = Look(browser, page)
    look.press("3")
    assert look.shown("samples")
    look.press("right", "right", "down", "up", "right")
    assert look.js("return document.activeElement.dataset.place") == "2"
    look.press("enter")
    assert look.open() == "sample 2"
    look.press("right")
    look.until("return document.getElementById('detail-title').textContent === 'sample 3'")
    look.press("left")
    look.until("return document.getElementById('detail-title').textContent === 'sample 2'")
    look.press("escape")
    assert look.closed()
    look.until("return document.activeElement.dataset.place === '2'")
    look.press("2")
    assert look.shown("exemplars")
    look.press("?")
    assert look.find("#keys").is_displayed()
    look.press("escape")
    before = look.js("return getComputedStyle(document.body).backgroundColor")
    look.press("t")
    assert look.js("return getComputedStyle(document.body).backgroundColor") != before
    assert look.log == []


def test_a_sample_shows_what_spoke_for_and_against(browser, page, wrong):
    look = Look(browser, page, hash_=f"#sample-{wrong[0]}")
    look.open()
    assert "Wrong:" in look.text(".verdict")
    assert look.js("return document.querySelectorAll('#detail .pulls')[0].children.length") == 6
    assert look.js("return document.querySelectorAll('#detail .match canvas').length") > 0
    assert look.find("#detail .pulls").is_displayed()
    look.click("#detail .segments label:nth-of-type(2)")
    assert not look.find("#detail .pulls").is_displayed()
    look.click("#detail .segments label:nth-of-type(1)")
    name = look.js("return document.querySelector('#detail .pull small').textContent.trim()")
    look.click("#detail .pull .drawn")
    look.until("return document.getElementById('detail-title').textContent === arguments[0]", name)
    look.click("[data-pulled]")
    assert look.shown("samples")
    assert look.closed()
    assert look.find("#exemplar-filter").is_displayed()
    look.click("#exemplar-filter")
    assert look.text("#count") == f"{TRIED} samples"
    assert look.log == []


def test_the_exemplars_can_be_searched_and_opened(browser, page, frames):
    look = Look(browser, page, hash_="#exemplars")
    assert look.text("#exemplar-count") == "60 exemplars"
    shares = look.js(
        "return [...document.querySelectorAll('#exemplar-grid .cell')]"
        ".sort((a, b) => a.dataset.place - b.dataset.place)"
        ".map(c => parseFloat(c.querySelector('.sub').textContent))"
    )
    assert shares == sorted(shares, reverse=True)
    look.js("const s = document.getElementById('exemplar-class'); s.value = '3'; s.dispatchEvent(new Event('change'))")
    assert 0 < int(look.text("#exemplar-count").split()[0]) < 60
    look.click("#exemplar-grid .cell")
    assert "training row" in look.open()
    look.click("#close")
    assert look.closed()
    assert look.shown("exemplars")
    look.press("/", *"nowhere")
    assert look.find("#exemplar-empty").is_displayed()
    look.click("#exemplar-clear")
    assert look.text("#exemplar-count") == "60 exemplars"
    assert not look.find("#exemplar-empty").is_displayed()
    assert look.log == []


def test_the_parts_that_decide_are_marked_on_the_sample(browser, rng, tmp_path):
    images = rng.random((30, 14, 14, 3)).astype(np.float32)
    series, texts = rng.normal(size=(30, 40)), ["a cat sat there", "the dogs ran away"] * 15
    marks = {"P6": (images, "span.frame"), "series-parts": (series, "rect"), "text-parts": (texts, ".whole mark")}
    for measure, (X, mark) in marks.items():
        model = BESVMClassifier(measure, basis=8, C=1.0, random_state=0).fit(X, np.arange(30) % 2)
        page = write_page(model, (X, np.arange(30) % 2), tmp_path / "page.html")
        look = Look(browser, page, hash_="#sample-1")
        look.open()
        assert look.js(f"return document.querySelectorAll('#detail {mark}.for').length") == 1, measure
        assert "speaks most for 1" in look.text(".spots")
        assert look.js("return document.querySelectorAll('#detail .match').length") > 0
        assert look.log == []


def test_the_table_of_classes_is_sorted_by_its_headings(browser, page):
    look = Look(browser, page)
    column = "return [...document.querySelectorAll('.classes tbody tr')].map(r => parseFloat(r.cells[3].dataset.value))"
    look.click(".classes th:nth-child(4) button")
    down = look.js(column)
    assert down == sorted(down, reverse=True)
    look.click(".classes th:nth-child(4) button")
    assert look.js(column) == sorted(down)


@pytest.mark.parametrize("width", [DESK, TELEPHONE, 320])
def test_nothing_is_wider_than_the_screen(browser, page, width):
    look = Look(browser, page, width)
    for hash_ in ("overview", "exemplars", "samples", "sample-3", "exemplar-3"):
        look.js("location.hash = arguments[0]", f"#{hash_}")
        look.until("return true")
        assert look.js("return document.documentElement.scrollWidth") <= width, hash_
        assert look.js("return document.getElementById('detail').scrollWidth") <= width, hash_
    look.js("location.hash = '#overview'")
    small = "[...document.querySelectorAll('p, td, th, li, button')].map(e => parseFloat(getComputedStyle(e).fontSize))"
    assert look.js(f"return Math.min(...{small})") >= 12


CONTRAST = """
const light = c => c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const numbers = color => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data]; };
const behind = node => { for (; node; node = node.parentElement) {
    const color = numbers(getComputedStyle(node).backgroundColor);
    if (color[3] > 250) return color.slice(0, 3);
  }
  return [255, 255, 255];
};
const worst = [];
for (const node of document.querySelectorAll("h1, h2, p, td, th, dd, dt, a, button, span, label, li")) {
  if (!node.offsetParent || ![...node.childNodes].some(c => c.nodeType === 3 && c.textContent.trim())) continue;
  const [a, b] = [numbers(getComputedStyle(node).color).slice(0, 3), behind(node)].map(light).sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) worst.push([ratio, node.outerHTML.slice(0, 60)]);
}
return worst;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_can_be_read(browser, page, scheme):
    set_colors(browser, scheme)
    look = Look(browser, page)
    look.js("localStorage.clear(); delete document.documentElement.dataset.theme")
    paper = look.js("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    for hash_ in ("overview", "samples", "sample-3"):
        look.js("location.hash = arguments[0]", f"#{hash_}")
        assert look.js(CONTRAST) == [], hash_
    look.js("location.hash = '#overview'")
    look.closed()
    look.click("#theme")
    assert look.js("return getComputedStyle(document.body).backgroundColor") != paper
    look.js("localStorage.clear()")
    set_colors(browser)
    assert look.log == []


def test_every_control_has_a_name(browser, page):
    look = Look(browser, page, hash_="#sample-3")
    look.open()
    nameless = look.js(
        "return [...document.querySelectorAll('button, a, input, select, [role=img], [role=listbox]')]"
        ".filter(e => !e.hidden && !(e.getAttribute('aria-label') || e.textContent.trim()"
        " || e.labels?.[0]?.textContent.trim()))"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []


def test_hostile_names_are_shown_and_not_run(browser, names_page):
    for hash_ in ("#overview", "#exemplars", "#samples", "#sample-3", "#exemplar-1"):
        look = Look(browser, names_page, hash_=hash_)
        assert look.js("return document.querySelectorAll('img').length") == 0
        assert look.log == []
    look = Look(browser, names_page, hash_="#sample-3")
    assert look.open() == f"{HOSTILE}3.txt"
    assert look.js("return document.querySelectorAll('#detail mark').length") > 0  # the common pieces of the texts
    assert look.js("return document.querySelector('.whole').textContent").startswith("cats </script>")
