"""The report of `wavecast rank -o x.html` in a browser."""

import csv
import io
import json
import re

import pytest
from conftest import fits, violations

KERNEL = """
wavecast: 1
kernel: some-cannot-run
fields: {a: {dtype: f64, shape: [4096, 4096]}, b: {like: a}}
domain: {x: 4096, y: 4096}
loads: ['a[x, y]']
stores: ['b[x, y]']
launch: {block: {x: [1, 32, 64, 1024], y: [1, 2, 4]}, registers: 32}
"""


@pytest.fixture(scope="session")
def report(wavecast, tmp_path_factory):
    """Reports by their names; each is written once."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "some.yaml").write_text(KERNEL)
    star, some = folder / "star3d25.html", folder / "some.html"
    wavecast("rank", "kernels/star3d25.yaml", "-d", "a100", "-o", str(star))
    wavecast("rank", str(folder / "some.yaml"), "-d", "a100", "-o", str(some))
    return {"star3d25": star, "some": some}


def heading(page):
    return page.locator(".detail h2").inner_text()


@pytest.mark.parametrize("name", ["star3d25", "some"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_read_it(visit, report, name, width, scheme):
    page = visit(report[name].as_uri(), width, scheme)
    assert violations(page) == []
    assert fits(page)


def test_a_click_on_the_map_shows_the_launch(visit, report, wavecast):
    page = visit(report["star3d25"].as_uri())
    ranking = json.loads(wavecast("rank", "kernels/star3d25.yaml", "-d", "a100", "--format", "json"))
    first = ranking["results"][0]["config"]
    assert heading(page).startswith("x".join(map(str, first["block"])))
    cell = page.locator(".heat button[data-rank]").last
    rank = int(cell.get_attribute("data-rank"))
    cell.click()
    result = ranking["results"][rank - 1]
    assert heading(page).startswith("x".join(map(str, result["config"]["block"])))
    assert f"rank {rank}," in page.locator(".headline").inner_text()
    compulsory = result["volumes"]["l2"]["load"]["compulsory"]
    assert f"{compulsory:.{1 if compulsory >= 100 else 2}f} compulsory" in page.locator(".memory").text_content()
    assert page.locator(".heat [aria-pressed=true]").get_attribute("data-rank") == str(rank)
    sentences = page.locator(".sentences li").all_inner_texts()
    assert any("limited by" in s for s in sentences) and "x".join(map(str, result["config"]["block"])) in sentences[0]


def test_table_and_map_go_together(visit, report):
    page = visit(report["star3d25"].as_uri())
    row = page.locator(".launches tbody tr").nth(7)
    row.locator("button").click()
    rank = row.get_attribute("data-rank")
    assert row.get_attribute("aria-current") == "true"
    assert page.locator(".heat [aria-pressed=true]").get_attribute("data-rank") == rank
    assert page.locator(".launches tr[aria-current]").count() == 1


def test_a_click_on_a_head_sorts(visit, report):
    page = visit(report["star3d25"].as_uri())
    head = page.locator(".launches th", has_text="DRAM B")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    column = 8
    bytes_ = lambda: [float(t) for t in page.locator(f".launches tbody td:nth-child({column + 1})").all_inner_texts()]
    rising = bytes_()
    assert len(rising) == 50 and rising == sorted(rising)
    head.locator("button").click()
    falling = bytes_()
    assert falling == sorted(falling, reverse=True) and falling[0] > rising[0]
    page.get_by_role("button", name="Show more of 168").click()
    assert page.locator(".launches tbody tr").count() == 168


def test_tabs_choose_what_the_map_shows(visit, report):
    page = visit(report["star3d25"].as_uri())
    group = page.get_by_role("group", name="Block z")
    group.get_by_role("button", name="2", exact=True).click()
    labels = [b.get_attribute("aria-label") for b in page.locator(".heat button").all()]
    assert labels
    for label in labels:
        block = re.match(r"\d+ % of the best: (\d+x\d+x\d+)", label).group(1)
        assert block.endswith("x2"), label


def test_the_keyboard_is_enough(visit, report):
    page = visit(report["star3d25"].as_uri())
    page.locator(".heat [aria-pressed=true]").focus()
    before = heading(page)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert heading(page) != before
    # One cell only is in the order of the tab key.
    assert page.locator(".heat button[tabindex='0']").count() == 1


def test_what_cannot_run_is_hatched_with_its_reason(visit, report):
    page = visit(report["some"].as_uri())
    hatched = page.locator(".heat .hatched")
    assert hatched.count() == 2
    assert "1024" in hatched.first.get_attribute("aria-label")
    assert "cannot run" in hatched.first.get_attribute("title")
    assert page.get_by_role("heading", name="Launches that cannot run").count() == 1


def test_dark_is_a_click_away(visit, report):
    page = visit(report["some"].as_uri())
    ground = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = ground()
    page.get_by_role("button", name="Light or dark").click()
    assert ground() != light


def test_launches_can_be_taken_along(visit, report, wavecast):
    page = visit(report["star3d25"].as_uri())
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    rows = list(csv.DictReader(saved.value.path().open()))
    native = list(csv.DictReader(io.StringIO(wavecast("rank", "kernels/star3d25.yaml", "-d", "a100", "--format", "csv"))))
    assert saved.value.suggested_filename == "star3d25-a100-40gb.csv" and len(rows) == len(native) == 168
    for here, there in zip(rows, native):
        for column in here:
            try:
                # The command line writes fewer digits.
                assert float(here[column]) == pytest.approx(float(there[column]), rel=1e-3, abs=1e-6), column
            except ValueError:
                assert here[column] == there[column], column
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").click()
    ranking = json.loads(wavecast("rank", "kernels/star3d25.yaml", "-d", "a100", "--format", "json"))
    assert json.loads(saved.value.path().read_text()) == ranking


# Pages of other commands


@pytest.fixture(scope="session")
def pages(wavecast, tmp_path_factory):
    """A page of each command, by its name."""
    folder = tmp_path_factory.mktemp("pages")
    star = ["kernels/star3d7.yaml", "-d", "a100"]
    commands = {
        "explain": ["explain", *star],
        "predict": ["predict", "kernels/star3d7.yaml", "-d", "a100", "-d", "h200"],
        "sweep": ["sweep", *star, "--best", "--vary", "NX=128..512 step 128"],
        "diff": ["diff", *star, "--block", "32,4,4", "--block", "64,4,1"],
        "compare": ["compare", "kernels/star2d5.yaml", "-d", "a100", "--block", "32,8,1", "--set", "NX=512", "--set", "NY=256"],
    }
    for name, command in commands.items():
        wavecast(*command, "-o", str(folder / f"{name}.html"))
    return {name: folder / f"{name}.html" for name in commands}


READY = {"explain": ".accesses", "predict": ".differences mark", "sweep": ".series", "diff": ".data", "compare": ".data"}


@pytest.mark.parametrize("name", READY)
@pytest.mark.parametrize("width, scheme", [(1280, "light"), (390, "dark")])
def test_pages_of_other_commands(visit, pages, name, width, scheme):
    page = visit(pages[name].as_uri(), width, scheme, ready=READY[name])
    assert violations(page) == []
    assert fits(page)
    # Never a text with columns of blanks.
    assert page.locator("pre").count() == 0
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").last.click()
    rows = list(csv.reader(saved.value.path().open()))
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").last.click()
    document = json.loads(saved.value.path().read_text())
    schema = (document[0] if isinstance(document, list) else document)["schema"]
    assert schema.startswith("wavecast/")


def test_the_page_of_an_explanation_says_what_the_command_says(visit, pages, wavecast):
    page = visit(pages["explain"].as_uri(), ready=".accesses")
    found = json.loads(wavecast("explain", "kernels/star3d7.yaml", "-d", "a100", "--format", "json"))
    words = page.locator(".sentences").inner_text()
    for sentence in found["sentences"]:
        assert sentence["text"] in words
    assert page.get_by_role("region", name="Table of launches one step away").locator("tbody tr").count() >= len(found["neighbours"]["near"])


def test_the_page_of_a_difference_says_which_is_faster(visit, pages, wavecast):
    page = visit(pages["diff"].as_uri(), ready=".data")
    found = json.loads(wavecast("diff", "kernels/star3d7.yaml", "-d", "a100", "--block", "32,4,4", "--block", "64,4,1", "--format", "json"))
    shown = page.get_by_role("region", name="What makes the difference")
    assert found["verdict"] in shown.inner_text()
    assert shown.locator("tbody tr").count() == len(found["terms"])


def test_two_launches_of_a_report_beside_each_other(visit, report):
    page = visit(report["star3d25"].as_uri())
    page.get_by_role("button", name="Keep to compare").click()
    page.locator(".launches tbody tr").nth(12).locator("button").click()
    assert page.locator(".differences mark").count() > 4
    assert page.locator(".stair").count() > 0
