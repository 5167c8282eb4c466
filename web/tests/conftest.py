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


# As root, without a screen, and without anything that a browser does for its user beside showing pages.
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]


def pytest_configure(config):
    config.addinivalue_line("markers", "clock: looks at the clock, so that nothing else may run beside it")


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "there is no Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens an address; whatever the page says is wrong, or loads from elsewhere, fails the test."""
    contexts, wrong = [], []

    def open_(url, width=1280, scheme="light", ready=".launches", bypass=True):
        # What the tests themselves run in a page is not what its policy is for.
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale="en-GB", bypass_csp=bypass, accept_downloads=True
        )
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("console", lambda m: wrong.append(f"{m.type}: {m.text}") if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: wrong.append(str(e)))
        own = ("file:", "blob:", "data:") if url.startswith("file:") else (url.split("#")[0], "blob:", "data:")
        page.on("request", lambda r: wrong.append(r.url) if not r.url.startswith(own) else None)
        page.goto(url)
        page.wait_for_selector(ready)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not wrong, wrong


def program():
    """The program: WAVECAST, or what cargo built."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return os.environ.get("WAVECAST", str(target / "debug/wavecast"))


@pytest.fixture(scope="session")
def served():
    """The address of a server."""
    server = subprocess.Popen([program(), "serve", "--http"], stdout=subprocess.PIPE, text=True)
    yield server.stdout.readline().strip()
    server.terminate()
    assert server.wait(timeout=20) == 0


@pytest.fixture(params=["in a file", "from a server"])
def address(request):
    """The page, as both its forms are there."""
    return (WEB / "dist/index.html").as_uri() if request.param == "in a file" else request.getfixturevalue("served")


@pytest.fixture(scope="session")
def wavecast():
    """Runs the program."""

    def run(*arguments):
        return subprocess.run([program(), *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    return run


def violations(page):
    """What axe-core finds that is serious or worse."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run()")["violations"]
    return [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]


def idle(page):
    """Waits until nothing is being computed."""
    page.wait_for_function("!document.querySelector('main[aria-busy]') && document.querySelector('.command').textContent")


def rate(page):
    return page.locator(".headline strong").inner_text()


def alike(a, b, where=""):
    """Where two documents differ; numbers may in their last digits, as exp and pow of platforms do."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return [f"{where}: {sorted(a.keys() ^ b.keys())}"]
        return [d for key in a for d in alike(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return [f"{where}: {len(a)} and {len(b)}"]
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in alike(x, y, f"{where}[{i}]")]
    if isinstance(a, float) and isinstance(b, (int, float)):
        return [] if abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-12 else [f"{where}: {a} and {b}"]
    return [] if a == b else [f"{where}: {a} and {b}"]


def fits(page):
    """Whether nothing is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
