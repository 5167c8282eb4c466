"""A browser for the tests: Debian's Chromium, driven by Playwright."""

import os
import pathlib
import shutil
import subprocess

import pytest
from playwright.sync_api import sync_playwright

WEB = pathlib.Path(__file__).parent.parent
ROOT = WEB.parent
AXE = WEB / "node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "there is no Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens an address; whatever the page says is wrong, or loads from elsewhere, fails the test."""
    contexts, wrong = [], []

    def open_(url, width=1280, scheme="light"):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, locale="en-GB")
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: wrong.append(f"{m.type}: {m.text}") if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: wrong.append(str(e)))
        page.on("request", lambda r: wrong.append(r.url) if not r.url.startswith(("file:", "blob:", "data:")) else None)
        page.goto(url)
        page.wait_for_selector(".launches")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not wrong, wrong


@pytest.fixture(scope="session")
def wavecast():
    """The program: WAVECAST, or what cargo built."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = os.environ.get("WAVECAST", str(target / "debug/wavecast"))

    def run(*arguments):
        return subprocess.run([program, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    return run


def violations(page):
    """What axe-core finds that is serious or worse."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")["violations"]
    return [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]


def fits(page):
    """Whether nothing is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
