"""What people do with the page, in both its forms: choose, see, understand, compare, ask what if, take along."""

import csv
import io
import json
import re
import shlex

import pytest
from conftest import ROOT, alike, fits, idle, rate, violations

PTX = ROOT / "tests/ptx/nvrtc/saxpy.ptx"


def write(page, label, text):
    """Puts a text into one of the editors."""
    page.get_by_label(label, exact=True).click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def drop(page, selector, text):
    """Drops a text onto an element."""
    page.evaluate(
        """([selector, text]) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            document.querySelector(selector).dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        [selector, text],
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everybody_can_read_it(visit, address, width, scheme):
    page = visit(address, width, scheme)
    for summary in page.locator("summary:visible").all():
        summary.click()
    page.get_by_role("button", name="Plot", exact=True).click()
    page.get_by_role("button", name="Keep to compare").click()
    page.locator(".launches tbody tr").nth(9).locator("button").click()
    page.wait_for_selector(".differences mark")
    page.wait_for_selector(".series")
    assert violations(page) == []
    assert fits(page)


# 1. Choose or paste


def test_a_kernel_is_chosen_and_changed(visit, address):
    page = visit(address)
    page.locator("#kernel").select_option("star2d4")
    idle(page)
    assert "star2d4" in page.locator(".summary").inner_text()
    page.locator("summary", has_text="The kernel as text").click()
    text = (ROOT / "kernels/star3d7.yaml").read_text()
    write(page, "Kernel as YAML", text.replace("kernel: star3d7", "kernel: mine"))
    page.wait_for_selector(".summary:has-text('mine')")
    # What is wrong is said with its place, and underlined.
    write(page, "Kernel as YAML", text.replace("\nloads:", "\nlodas:"))
    page.wait_for_selector(".faults li")
    assert re.search(r"Line \d+:1", page.locator(".faults").inner_text())
    assert page.locator(".cm-lintRange-error, .wrong").first.inner_text() == "lodas"
    assert violations(page) == []


def test_what_can_stand_here_is_offered(visit, address):
    page = visit(address)
    page.locator("summary", has_text="The kernel as text").click()
    write(page, "Kernel as YAML", "wavecast: 1\nlaunch:\n  re")
    page.keyboard.press("Control+Space")
    offered = page.get_by_role("listbox")
    offered.wait_for()
    assert offered.get_by_role("option").first.inner_text().startswith("registers")
    page.wait_for_timeout(200)
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    shown = page.evaluate("(document.querySelector('.editor textarea')?.value ?? document.querySelector('.cm-content').innerText)")
    assert "  registers: " in shown
    # Words that a key may have.
    write(page, "Kernel as YAML", "wavecast: 1\nfields: {a: {dtype: f")
    page.keyboard.press("Control+Space")
    page.get_by_role("option").filter(has_text=re.compile("^f64")).first.wait_for()


def test_ptx_is_read(visit, address):
    page = visit(address)
    page.locator("summary", has_text="The kernel as text").click()
    drop(page, ".editor textarea, .cm-content", PTX.read_text())
    page.wait_for_selector(".summary:has-text('saxpy')")
    assert page.locator(".faults li").count() == 0
    # It loads x and y and stores y.
    assert page.evaluate("window.wavecastRankings[0].results[0].volumes.l1.load_bytes") == 8


def test_a_device_of_ones_own(visit, address, wavecast, tmp_path):
    page = visit(address)
    page.wait_for_selector("#device option[value=own]", state="attached")
    page.locator("#device").select_option("own")
    idle(page)
    assert "My own" in page.locator(".summary").inner_text()
    text = "wavecast-device: 1\nid: half\nname: Half\ninherit: a100-40gb\nsources: {me: {kind: measured, text: me}}\n"
    half = text + "dram: {bandwidth: {value: 100 GB/s, source: me}}\n"
    write(page, "Device as YAML", half)
    page.wait_for_selector(".summary:has-text('Half')")
    # What the program makes of the same file.
    (tmp_path / "half.yaml").write_text(half)
    native = json.loads(wavecast("rank", "kernels/star3d25.yaml", "-d", str(tmp_path / "half.yaml"), "--format", "json"))
    assert alike(native["results"], page.evaluate("window.wavecastRankings[0].results")) == []
    # The link has it.
    other = visit(page.url)
    idle(other)
    assert "Half" in other.locator(".summary").inner_text() and rate(other) == rate(page)
    # Nonsense is said to be that, with its place, and nothing freezes.
    for wrong in ["sm: {count: {value: 0, source: me}}\n", "l2: {capacity: {value: 1e300 GiB, source: me}}\n", "clock: [\n", "\x01"]:
        write(page, "Device as YAML", text + wrong)
        page.wait_for_selector(".faults li", timeout=8000)
        write(page, "Device as YAML", text)
        page.wait_for_selector(".launches", timeout=8000)


# 2. See


def test_map_and_table_show_the_same_launch(visit, address):
    page = visit(address)
    cell = page.locator(".heat button[data-rank]").last
    rank = cell.get_attribute("data-rank")
    cell.click()
    assert f"rank {rank}," in page.locator(".headline").inner_text()
    assert page.locator(".heat [aria-pressed=true]").get_attribute("data-rank") == rank
    page.locator(".launches th", has_text="L2 B").locator("button").click()
    column = [float(t) for t in page.locator(".launches tbody td:nth-child(8)").all_inner_texts()]
    assert column == sorted(column)


# 3. Understand


def test_a_launch_is_understood(visit, address, wavecast):
    page = visit(address)
    page.wait_for_selector(".accesses")
    explained = json.loads(wavecast("explain", "kernels/star3d25.yaml", "-d", "a100", "--block", "32,1,32", "--fold", "1,2,1", "--near", "--format", "json"))
    words = page.locator(".sentences").inner_text()
    for sentence in explained["sentences"]:
        assert sentence["text"] in words
    assert page.locator(".accesses tbody tr").count() == len(explained["accesses"])
    # Loads are split into what is compulsory, lost, and more, as the explanation has it.
    loads = explained["levels"][2]["loads"]
    chart = page.locator(".memory").first.text_content()
    assert f"{loads['unavoidable']:.2f} compulsory" in chart and f"{loads['lost_z']:.2f} reuse lost, z" in chart
    # The staircases, in words.
    stairs = explained["staircase"]["registers"]
    at = next(i for i, s in enumerate(stairs) if explained["result"]["config"]["registers"] <= s["up_to"])
    said = page.get_by_role("region", name="Occupancy over registers of a thread").inner_text()
    assert f"{stairs[at]['blocks_per_sm']} blocks" in said and f"up to {stairs[at]['up_to']} registers" in said
    # A number lights up where it stands.
    number = page.locator(".sentences [data-code=dram-load] .figure").first
    number.focus()
    lit = page.locator(".lit")
    assert lit.count() >= 1 and number.inner_text().split()[0] in lit.first.text_content()


# 4. Compare


def test_two_launches_beside_each_other(visit, address):
    page = visit(address)
    page.get_by_role("button", name="Keep to compare").click()
    page.locator(".launches tbody tr").nth(30).locator("button").click()
    rankings = page.evaluate("window.wavecastRankings[0].results.map(r => r.time_s)")
    assert f"{rankings[0] / rankings[30]:.3f} times as fast" in page.locator(".comparison").inner_text()
    rows = {row.locator("th").inner_text(): row for row in page.locator(".differences tbody tr").all()}
    assert rows["Kernel"].locator("mark").count() == 0 and rows["Rate"].locator("mark").count() == 2


@pytest.mark.parametrize("what, name", [("device:t4", "T4"), ("kernel:star2d4", "star2d4")])
def test_two_devices_or_kernels_beside_each_other(visit, address, wavecast, what, name):
    page = visit(address)
    page.wait_for_selector("#device option[value=t4]", state="attached")
    select = page.get_by_label("Compare with")
    select.focus()
    select.select_option(what)
    page.wait_for_selector(".differences")
    kind, of = what.split(":")
    arguments = ["kernels/star3d25.yaml", "-d", of] if kind == "device" else [f"kernels/{of}.yaml", "-d", "a100"]
    best = json.loads(wavecast("rank", *arguments, "--top", "1", "--format", "json"))["results"][0]
    launch = "x".join(map(str, best["config"]["block"]))
    cells = page.locator(".differences tr", has_text="Launch").locator("td").all_inner_texts()
    assert cells[1].startswith(launch), cells
    assert name in page.locator(".comparison").inner_text() and page.locator(".comparison .heat").count() == 2
    # The link takes it along.
    other = visit(page.url)
    other.wait_for_selector(".differences")
    assert violations(other) == []


def test_the_roofline_has_every_launch_at_every_level(visit, address):
    page = visit(address)
    page.wait_for_selector(".dot", state="attached")
    assert page.locator(".dot").count() == 3 * 168
    page.locator(".dot.f-l2").nth(100).dispatch_event("click")
    shown = page.locator(".detail h2").inner_text()
    assert shown in page.get_by_role("region", name="Roofline").inner_text()
    # No launch is above a roof of its own.
    reach = [int(n) for n in re.findall(r"(\d+) %", page.get_by_role("region", name="Roofline").inner_text())]
    assert reach and all(0 < n <= 100 for n in reach)


# 5. Ask what if


def test_a_slider_over_a_parameter(visit, address):
    page = visit(address)
    before = rate(page)
    slider = page.get_by_label("NX, slider")
    slider.evaluate("s => { s.value = 158; s.dispatchEvent(new Event('input')); }")
    idle(page)
    assert rate(page) != before and "--set NX=158" in page.locator(".command").first.inner_text()
    assert page.get_by_label("NX", exact=True).input_value() == "158"


def test_a_series_over_a_parameter_and_a_device(visit, address, wavecast):
    page = visit(address)
    page.get_by_label("What varies").select_option("NX")
    page.get_by_label("Its values").fill("128..384 step 128")
    page.get_by_role("button", name="Plot", exact=True).click()
    page.wait_for_selector(".series")
    words = shlex.split(page.get_by_role("region", name="A series").locator(".swept").inner_text())
    points = json.loads(wavecast(*words[1:], "--format", "json"))["points"]
    rows = page.get_by_role("region", name="Table of the series").locator("tbody tr")
    assert rows.count() == len(points) == 3
    for row, point in zip(rows.all(), points):
        assert "x".join(map(str, point["config"]["block"])) in row.inner_text()
    page.get_by_label("What varies").select_option("dram.bandwidth")
    page.get_by_role("button", name="Plot", exact=True).click()
    page.wait_for_selector("text=Best rate over dram.bandwidth")
    rates = page.get_by_role("region", name="Table of the series").locator("tbody td:nth-child(2)").all_inner_texts()
    assert float(rates[0].split()[0]) < float(rates[-1].split()[0])
    page.get_by_label("Its values").fill("nonsense")
    page.get_by_role("button", name="Plot", exact=True).click()
    page.get_by_role("region", name="A series").get_by_role("alert").wait_for()


def test_the_bandwidth_of_the_memory_can_be_changed(visit, address):
    page = visit(address)
    before = float(rate(page).split()[0])
    page.locator("summary", has_text="What if the").click()
    page.get_by_label("DRAM bandwidth").fill("-4")
    idle(page)
    assert float(rate(page).split()[0]) < 0.7 * before


# 6. Take along


def test_pictures_are_taken_along(visit, address):
    page = visit(address)
    page.wait_for_selector(".stair")
    page.wait_for_selector(".dot", state="attached")
    idle(page)
    names = [b.get_attribute("aria-label") for b in page.get_by_role("button", name="Save as SVG").all()]
    assert len(names) >= 6, names
    for name in names:
        # Chromium gives no more than ten files to who asks for them within a moment.
        page.wait_for_timeout(500)
        with page.expect_download() as saved:
            page.get_by_role("button", name=name, exact=True).click()
        text = saved.value.path().read_text()
        assert saved.value.suggested_filename.endswith(".svg") and text.startswith("<svg") and "NaN" not in text and "var(" not in text
        with page.expect_download() as saved:
            page.get_by_role("button", name=name.replace("SVG", "PNG"), exact=True).click()
        data = saved.value.path().read_bytes()
        assert data.startswith(b"\x89PNG") and len(data) > 2000


def test_the_table_and_the_commands_are_taken_along(visit, address, wavecast):
    page = visit(address)
    idle(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text())))
    native = json.loads(wavecast("rank", "kernels/star3d25.yaml", "-d", "a100", "--format", "json"))
    assert len(rows) == len(native["results"])
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").click()
    assert alike(native, json.loads(saved.value.path().read_text())) == []
    command = shlex.split(page.get_by_role("region", name="The same elsewhere").locator(".command").first.inner_text())
    assert json.loads(wavecast(*command[1:], "--format", "json")) == native
    compile(page.locator(".python").inner_text(), "page", "exec")


def test_nothing_is_replaced_while_a_button_is_pressed(visit, address):
    page = visit(address)
    idle(page)
    page.wait_for_selector(".detail .stair")
    # All within the page: a press counts for a second at most, and a busy machine can take longer than that between two
    # commands. Of two timers that were set together the shorter one ends first, however late both are.
    explained = page.evaluate("""() => {
        document.dispatchEvent(new PointerEvent("pointerdown", { button: 0, bubbles: true }));
        document.querySelectorAll(".launches tbody tr")[5].querySelector("button").click();
        return new Promise((done) => setTimeout(() => {
            done(document.querySelector(".detail .stair") !== null);
            document.dispatchEvent(new PointerEvent("pointerup", { button: 0, bubbles: true }));
        }, 500));
    }""")
    page.wait_for_selector(".detail .stair")
    assert not explained


def test_a_link_takes_everything_along(visit, address):
    page = visit(address)
    page.locator("#kernel").select_option("star2d4")
    idle(page)
    page.locator("summary", has_text="What if the").click()
    page.get_by_label("SMs").fill("-4")
    idle(page)
    page.locator(".launches tbody tr").nth(4).locator("button").click()
    shown, fast = page.locator(".detail h2").inner_text(), rate(page)
    other = visit(page.url)
    idle(other)
    assert other.locator(".detail h2").inner_text() == shown and rate(other) == fast


# From a server only


def test_the_policy_of_the_server_is_kept(visit, served):
    page = visit(served, bypass=False)
    page.locator(".launches tbody tr").nth(3).locator("button").click()
    page.locator(".accesses").wait_for()
    with page.expect_download():
        page.get_by_role("button", name="Save as PNG: memory chart").click()
