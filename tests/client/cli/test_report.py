"""`atr-client report` and `view`, looked at by a headless Chromium."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Page, browser_page
from tests.support.command import call
from tests.support.finished_run import LEARNING, MODELS, TESTS, VARIANTS, finished_run

SESSIONS = len(MODELS) * ((len(VARIANTS) - 1) * LEARNING + len(VARIANTS) * TESTS)
CELL = "odalys_renner/seed000/always_ask__model-offline-asker__layer-context__seed000"
HOSTILE = "</script><script>document.title='taken'</script><img src=http://evil.example/x onerror=alert(1)>"
ROWS = "document.querySelectorAll('#list tbody tr').length"


def hostile_run(folder: Path) -> Path:
    """The finished run, with a message in it that would like to be a page."""
    run = shutil.copytree(finished_run(), folder / "run", copy_function=shutil.copy2)
    path = sorted((run / CELL / "trajectories").glob("*test*.json"))[0]
    before = path.stat()
    document = json.loads(path.read_text())
    document["messages"][1]["content"] += HOSTILE
    path.write_text(json.dumps(document))
    import os

    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return run


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    out = folder / "report.html"
    episodes = finished_run().parent / "episodes"
    assert call("report", hostile_run(folder), "-o", out, "--episodes", episodes) == 0
    return out


@contextmanager
def opened(address: str, **size: int) -> Iterator[Page]:
    with browser_page() as page:
        page.open(address, **size)
        yield page


def test_the_file_needs_nothing_else(report: Path) -> None:
    text = report.read_text()
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?!#|data:)[a-z]+:""", text)
    assert not re.findall(r"url\(\s*['\"]?https?:", text)
    assert HOSTILE not in text
    assert "connect-src 'none'" in text


def test_it_renders_filters_and_reads_without_a_request_or_a_complaint(report: Path) -> None:
    with opened(report.as_uri()) as page:
        assert page.evaluate("document.querySelectorAll('.chart svg').length") >= 12
        assert page.evaluate(ROWS) == SESSIONS
        choose(page, "variant", "always_ask")
        choose(page, "type", "test")
        choose(page, "model", "offline/asker")
        assert page.evaluate(ROWS) == TESTS
        assert (
            page.evaluate("document.getElementById('count').textContent") == f"{TESTS} of {SESSIONS} sessions"
        )
        type_words(page, "EVIL.example")
        page.wait(f"{ROWS} === 1")
        page.evaluate("document.querySelector('#list a').click()")
        page.wait("document.querySelectorAll('.message').length > 2")
        reader = page.evaluate("document.getElementById('reader').innerText")
        assert HOSTILE in reader and "Expected" in reader and "Done" in reader
        assert "called " in reader and "the user's answer" in reader
        assert page.evaluate("document.querySelectorAll('#reader mark').length") >= 1
        assert page.evaluate("document.title").startswith("ATR report")
        assert page.complaints == []
        assert page.requests == [report.as_uri()]


def test_a_link_leads_to_its_session(report: Path) -> None:
    with opened(report.as_uri()) as page:
        link = page.evaluate("document.querySelector('#list tbody tr:nth-child(3) a').href")
        name = page.evaluate("document.querySelector('#list tbody tr:nth-child(3) a').textContent")
        page.open("about:blank")
        page.open(link)
        page.wait("document.querySelectorAll('.message').length > 2")
        assert page.evaluate("document.getElementById('reader-title').textContent") == name
        page.open(report.as_uri() + "#session=nowhere")
        page.wait("!document.getElementById('reader').hidden")
        assert "no such session" in page.evaluate("document.getElementById('reader').innerText")
        assert page.complaints == []


@pytest.mark.parametrize(("width", "hidden"), [(1280, "narrow-only"), (390, "wide-only")])
def test_nothing_sticks_out_at_any_width(report: Path, width: int, hidden: str) -> None:
    with opened(report.as_uri(), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shown = f"getComputedStyle(document.querySelector('.{hidden}')).display"
        assert page.evaluate(shown) == "none"
        chart = ".narrow-only" if width == 390 else ".wide-only"
        sticking = (
            f"[...document.querySelectorAll('{chart}')].filter(b => b.scrollWidth > b.clientWidth).length"
        )
        assert page.evaluate(sticking) == 0


def test_the_keyboard_reaches_everything(report: Path) -> None:
    with opened(report.as_uri()) as page:
        page.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.press("Enter")
        seen: list[str] = []
        for _ in range(14):
            page.press("Tab")
            seen.append(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
        assert {"model", "variant", "words", "A"} <= set(seen)
        page.evaluate("document.querySelector('#list a').focus()")
        page.press("Enter")
        page.wait("document.querySelectorAll('.message').length > 2")
        page.wait("document.activeElement.id === 'reader'")


def test_above_the_limit_the_transcripts_stay_out_and_the_page_says_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "small.html"
    episodes = finished_run().parent / "episodes"
    assert call("report", finished_run(), "-o", out, "--episodes", episodes, "--max-mb", 0.001) == 0
    assert "read them with: atr-client view" in capsys.readouterr().err
    assert 'class="cell"' not in out.read_text()
    with opened(out.as_uri()) as page:
        assert page.evaluate(ROWS) == SESSIONS
        page.evaluate("document.querySelector('#list a').click()")
        page.wait("document.getElementById('reader').innerText.includes('atr-client view DIR')")
        assert page.complaints == []


def test_a_page_that_is_served_follows_the_run(tmp_path: Path) -> None:
    """A cell comes, while the page is open."""
    run = shutil.copytree(finished_run(), tmp_path / "run", copy_function=shutil.copy2)
    late = shutil.move(run / CELL, tmp_path / "late")
    with served(run) as address, opened(address) as page:
        page.wait(f"{ROWS} === {SESSIONS - LEARNING - TESTS}")
        choose(page, "model", "offline/asker")
        page.wait("document.getElementById('live').textContent.includes('5 of 5 cells complete')")
        shutil.move(late, run / CELL)
        page.wait("document.getElementById('live').textContent.includes('6 of 6 cells complete')")
        page.wait(f"{ROWS} === {SESSIONS // 2}")
        assert page.evaluate("document.getElementById('filters').elements.model.value") == "offline/asker"
        assert "always_ask" in page.evaluate("document.getElementById('table-accuracy').innerText")
        page.evaluate("[...document.querySelectorAll('#list a')].at(-1).click()")
        page.wait("document.querySelectorAll('.message').length > 2")
        assert page.complaints == []
        assert all(request.startswith(address) for request in page.requests)


def test_the_server_is_for_this_machine_alone(tmp_path: Path) -> None:
    import http.client

    with served(finished_run()) as address:
        host = address.removeprefix("http://").rstrip("/")
        for name, status in ((host, 200), ("evil.example", 421), ("localhost:80.evil.example", 421)):
            connection = http.client.HTTPConnection(host, timeout=30)
            connection.request("GET", "/state", headers={"Host": name})
            assert connection.getresponse().status == status
            connection.close()
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request("GET", "/cells/999")
        assert connection.getresponse().status == 404
        connection.close()


@contextmanager
def served(run: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "atr_client.cli", "view", str(run)]
    command += ["--episodes", str(finished_run().parent / "episodes")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("url: ").strip()
    finally:
        process.terminate()
        assert process.wait(timeout=30) == 0
        if process.stdout:
            process.stdout.close()


@pytest.mark.parametrize("arguments", [["nowhere"], [".", "--max-mb", "-1"], [".", "-o", "missing/x.html"]])
def test_mistakes_are_told_in_a_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("report", *arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


def choose(page: Page, name: str, value: str) -> None:
    page.evaluate(
        f"(() => {{ const one = document.getElementById('filters').elements[{json.dumps(name)}]; "
        f"one.value = {json.dumps(value)}; one.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
    )


def type_words(page: Page, words: str) -> None:
    choose(page, "words", words)
