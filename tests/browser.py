"""Debian's Chromium, without a window, to look at pages with."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs the packages chromium and chromium-driver")
DESK, TELEPHONE = 1200, 390  # pixels wide


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser that keeps its log."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    for argument in ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *quiet]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        yield browser
    finally:
        browser.quit()


def set_colors(browser: Any, scheme: str = "light") -> None:
    """Let the system prefer light or dark, and nothing that moves."""
    features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]
    media = {"features": [{"name": name, "value": value} for name, value in features]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def set_width(browser: Any, width: int, height: int = 800) -> None:
    """Make the screen as wide as this; a narrow one is a telephone's."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
