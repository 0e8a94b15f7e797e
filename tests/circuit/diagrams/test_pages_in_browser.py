"""Pages of circuits in Chromium: clicks, keys, light and dark."""

import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.generators.cultivation import cultivation_circuit

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="needs Chromium and ChromeDriver"),
]

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1300,950",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    file = tmp_path_factory.mktemp("pages") / "cultivation.html"
    circuit = Circuit(cultivation_circuit(distance=3, p=1e-3))
    circuit.page(file, postselection_mask="all", seed=1, relative_error=0.3, title="Cultivation")
    return file


@pytest.fixture
def browser(page: pathlib.Path, tmp_path: pathlib.Path) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        driver.get(page.as_uri())
        yield driver
        assert driver.get_log("browser") == []  # no error of the script, and nothing that the policy forbids
    finally:
        driver.quit()


def text(browser: Any, selector: str) -> str:
    found: str = browser.find_element("css selector", selector).text
    return found


def count(browser: Any, selector: str) -> int:
    return len(browser.find_elements("css selector", selector))


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        browser.find_element("css selector", "body").send_keys(key)


def test_keys_and_slider_move_through_the_ticks(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    assert text(browser, "#tick") == "tick 38 of 39"  # most of the logical error
    press(browser, Keys.HOME)
    assert text(browser, "#tick") == "tick 0 of 39"
    assert count(browser, "#layout .op") == 13  # resets
    press(browser, Keys.ARROW_RIGHT, Keys.PAGE_UP)
    assert text(browser, "#tick") == "tick 11 of 39"
    press(browser, Keys.ARROW_LEFT)
    assert "T†" in text(browser, "#layout")
    browser.find_element("css selector", "#slider").send_keys(Keys.ARROW_RIGHT)
    assert text(browser, "#tick") == "tick 11 of 39"
    browser.find_element("css selector", "#forth").click()
    assert text(browser, "#tick") == "tick 12 of 39"
    press(browser, Keys.END, Keys.ARROW_RIGHT)
    assert text(browser, "#tick") == "tick 39 of 39"


def test_a_click_on_the_bars_goes_to_the_tick(browser: Any) -> None:
    bars = browser.find_elements("css selector", "#strip .bar")
    assert len(bars) == 40
    browser.execute_script(
        "const box = arguments[0].getBoundingClientRect(); document.getElementById('strip').dispatchEvent("
        "new MouseEvent('click', {clientX: box.left + box.width / 2, clientY: box.top}));",
        bars[37],
    )
    assert text(browser, "#tick") == "tick 37 of 39"


def test_a_click_on_a_set_draws_its_faults(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    first = browser.find_element("css selector", "#set-list button")
    first.click()
    assert first.get_attribute("aria-pressed") == "true"
    assert text(browser, "#details h2") == "Fault set 1"
    assert "X9" in text(browser, "#detail-text")
    assert "flip no detector" in text(browser, "#detail-text") or "flip L0" in text(browser, "#detail-text")
    assert text(browser, "#tick") == "tick 28 of 39"  # of its first fault
    assert count(browser, "#layout .fault") == 2  # a fault of a two-qubit gate
    assert count(browser, "#strip .mark") == 2
    press(browser, Keys.ARROW_RIGHT)
    assert count(browser, "#layout .badge.X") >= 1
    press(browser, Keys.ESCAPE)
    assert count(browser, "#layout .badge") == 0
    press(browser, "2")
    assert text(browser, "#details h2") == "Fault set 2"


def test_colours_follow_the_measure(browser: Any) -> None:
    def shares() -> list[float]:
        found = browser.find_elements("css selector", "#layout .noise")
        return [float(each.get_attribute("data-share")) for each in found]

    before = shares()
    assert before == sorted(before)
    assert max(before) > 0
    browser.find_element("css selector", "input[value=discarded]").click()
    assert shares() != before
    browser.find_element("css selector", "#all").click()
    assert count(browser, "#layout .noise") == 15
    assert sum(shares()) == pytest.approx(1, rel=1e-3)


def test_light_and_dark(browser: Any) -> None:
    def paper(scheme: str) -> str:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        found: str = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        return found

    assert paper("light") == "rgb(255, 255, 255)"
    assert paper("dark") == "rgb(22, 24, 28)"


def test_nothing_is_asked_from_the_network(browser: Any, page: pathlib.Path) -> None:
    import json

    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    # Chromium has shown its own empty page before.
    assert {url for url in asked if not url.startswith(("data:", "chrome"))} == {page.as_uri()}
