#!/usr/bin/python3
"""Opens a report in headless Chromium and holds it to what a reader may expect.

No message on the console, no request but for the file itself, every chart drawn with
something on it, in light and dark; no sideways scrolling on a phone; everything within
reach of the keyboard; a table behind each chart. Prints what it saw; exit status 1 says
what was wrong.

    check_report.py REPORT.html [--shots FOLDER]
"""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

WAIT_S = 20
DESKTOP = (1280, 900)
PHONE = (390, 844)

# The pixels of a chart, read from a copy, since reading a canvas changes how the browser keeps it.
PIXELS = """
const canvas = arguments[0].querySelector('canvas');
if (!canvas) return -1;
const copy = document.createElement('canvas');
copy.width = canvas.width;
copy.height = canvas.height;
const context = copy.getContext('2d', { willReadFrequently: true });
context.drawImage(canvas, 0, 0);
const pixels = context.getImageData(0, 0, copy.width, copy.height).data;
"""
# Counts the colours of a chart: a blank canvas has one, a drawn one several.
COLOURS = PIXELS + """
const seen = new Set();
for (let i = 0; i < pixels.length && seen.size < 50; i += 4) {
  if (pixels[i + 3] > 0) seen.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
}
return seen.size;
"""
# A number that stands for what a canvas shows.
PICTURE = PIXELS + """
let sum = 0;
for (let i = 0; i < pixels.length; ++i) sum = (sum * 31 + pixels[i]) | 0;
return sum;
"""


class Wrong(Exception):
    """The report is not what it should be."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def start(profile):
    options = webdriver.ChromeOptions()
    for argument in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
        f"--user-data-dir={profile}", f"--window-size={DESKTOP[0]},{DESKTOP[1]}",
    ):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_page_load_timeout(WAIT_S)
    driver.set_script_timeout(WAIT_S)
    return driver


def await_that(holds, otherwise):
    deadline = time.monotonic() + WAIT_S
    while not holds():
        expect(time.monotonic() < deadline, f"{otherwise}, after {WAIT_S} s")
        time.sleep(0.02)


def await_drawn(driver, figure):
    await_that(lambda: figure.get_attribute("data-drawn"), f"chart {figure.get_attribute('data-chart')} was not drawn")
    return figure.get_attribute("data-drawn")


def name_of(figure):
    return figure.get_attribute("data-chart") + ": " + figure.find_element(By.CSS_SELECTOR, "figcaption span").text


def check_charts(driver):
    figures = driver.find_elements(By.CSS_SELECTOR, "figure[data-chart]")
    for figure in figures:
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", figure)
        expect(await_drawn(driver, figure) == "true", f"{name_of(figure)}: nothing was drawn")
        colours = driver.execute_script(COLOURS, figure)
        expect(colours >= 3, f"{name_of(figure)}: its canvas shows {colours} colours")
        label = figure.find_element(By.CSS_SELECTOR, ".canvas").get_attribute("aria-label")
        expect(label, f"{name_of(figure)}: no words for who cannot see it")
    return figures


def check_kinds(figures, kinds):
    found = {figure.get_attribute("data-chart") for figure in figures}
    for kind in kinds:
        expect(kind in found, f"no chart of the kind {kind}")


def check_width(driver, what):
    widths = driver.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]")
    expect(widths[0] <= widths[1], f"{what}: the page is {widths[0]} px wide and {widths[1]} px are there")


def check_tables(driver, figures):
    for figure in figures:
        details = figure.find_element(By.CSS_SELECTOR, "details")
        driver.execute_script("arguments[0].open = true", details)
        await_that(lambda: details.find_elements(By.CSS_SELECTOR, "tbody tr"), f"{name_of(figure)}: no table behind it")
        rows = len(details.find_elements(By.CSS_SELECTOR, "tbody tr"))
        expect(rows <= 50, f"{name_of(figure)}: {rows} rows at once")
        driver.execute_script("arguments[0].open = false", details)


def check_select(driver):
    """Choosing another run with the keyboard changes the picture and the words."""
    for kind in ("matrix", "timeline"):
        selects = driver.find_elements(By.CSS_SELECTOR, f"figure[data-chart={kind}] select")
        expect(selects, f"no run can be chosen for a {kind}")
        select = selects[0]
        figure = select.find_element(By.XPATH, "ancestor::figure")
        driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", figure)
        await_drawn(driver, figure)
        before = driver.execute_script(PICTURE, figure)
        label = figure.find_element(By.CSS_SELECTOR, ".canvas").get_attribute("aria-label")
        chosen = Select(select).first_selected_option.text
        select.send_keys(Keys.ARROW_DOWN)
        expect(Select(select).first_selected_option.text != chosen, "the arrow key chooses no other run")
        canvas = figure.find_element(By.CSS_SELECTOR, ".canvas")
        await_that(lambda: canvas.get_attribute("aria-label") != label, f"{name_of(figure)}: another run, but the same words")
        await_drawn(driver, figure)
        after = driver.execute_script(PICTURE, figure)
        # Two runs in which everybody is right have one matrix, but never the same times.
        expect(kind == "matrix" or before != after, f"{name_of(figure)}: another run, but the same picture")


def check_keyboard(driver):
    """Tab comes to every control, in the order of the page, and is held by none."""
    controls = driver.execute_script("""
      window.controls = [...document.querySelectorAll(
        'a[href], select, button:not(:disabled), summary, [tabindex="0"]')].filter((e) => e.checkVisibility());
      document.activeElement.blur(); window.scrollTo(0, 0); return window.controls.length;""")
    body = driver.find_element(By.TAG_NAME, "body")
    reached = []
    for _ in range(controls + 3):
        driver.switch_to.active_element.send_keys(Keys.TAB) if reached else body.send_keys(Keys.TAB)
        reached.append(driver.execute_script("return window.controls.indexOf(document.activeElement)"))
    missed = sorted(set(range(controls)) - set(reached))
    names = driver.execute_script("return arguments[0].map((i) => window.controls[i].outerHTML.slice(0, 120))", missed)
    expect(not missed, f"the keyboard does not reach {names}")
    inside = [index for index in reached if index >= 0]
    # It may begin in the middle, where the last control was used, and comes round once.
    back = sum(1 for one, following in zip(inside, inside[1:]) if following < one)
    expect(back <= 1, "Tab does not follow the order of the page")
    return controls


def check_logs(driver, page):
    messages = [entry for entry in driver.get_log("browser")]
    expect(not messages, f"console: {json.dumps(messages)[:1000]}")
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        url = message["params"]["request"]["url"]
        expect(url.split("#")[0] == page or url.startswith(("data:", "blob:")), f"a request to {url[:200]}")


def shoot(driver, folder, name):
    if not folder:
        return
    height = driver.execute_script("return document.documentElement.scrollHeight")
    width = driver.execute_script("return document.documentElement.clientWidth")
    import base64
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {
        "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
    (pathlib.Path(folder) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def scheme(driver, value):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]})


def check(driver, page, arguments):
    scheme(driver, "light")
    driver.get("about:blank")
    driver.get_log("performance")  # the browser's own first page is none of ours
    begin = time.monotonic()
    driver.get(page)
    loaded_s = time.monotonic() - begin
    check_width(driver, "desktop")
    figures = check_charts(driver)
    check_kinds(figures, arguments.kinds.split(","))
    all_drawn_s = time.monotonic() - begin
    shoot(driver, arguments.shots, "light")
    light = driver.execute_script(PICTURE, figures[0])
    light_paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    check_tables(driver, figures)
    check_select(driver)
    controls = check_keyboard(driver)

    scheme(driver, "dark")
    time.sleep(0.1)
    check_charts(driver)
    dark_paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    expect(light_paper != dark_paper, "the page is the same in light and dark")
    expect(light != driver.execute_script(PICTURE, figures[0]), "the charts are the same in light and dark")
    shoot(driver, arguments.shots, "dark")

    for value in ("dark", "light"):
        scheme(driver, value)
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": PHONE[0], "height": PHONE[1], "deviceScaleFactor": 1, "mobile": True})
        driver.get(page)
        check_charts(driver)
        check_width(driver, "phone")
        shoot(driver, arguments.shots, f"phone-{value}")
    check_logs(driver, page)
    print(f"{len(figures)} charts, {controls} controls, loaded in {loaded_s:.2f} s, all charts drawn after {all_drawn_s:.2f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("--shots", help="a folder for pictures of what was seen")
    parser.add_argument("--kinds", default="matrix,timeline,ecdf,wall", help="the charts that must be there")
    arguments = parser.parse_args()
    page = pathlib.Path(os.path.realpath(arguments.report)).as_uri()
    with tempfile.TemporaryDirectory() as profile:
        driver = start(profile)
        try:
            check(driver, page, arguments)
        except Wrong as wrong:
            print(f"{arguments.report}: {wrong}", file=sys.stderr)
            return 1
        finally:
            driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
