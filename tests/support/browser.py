"""A headless Chromium, driven over its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.support.limits import exit_code, killed_when_late

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
_PATIENCE = 60.0


def chromium() -> str:
    """The program; the test is skipped under its name where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no chromium here: install the Debian package of that name")
    return found


@dataclass
class Page:
    """One tab. `requests` holds every address that it asked for, `complaints` what went to its console as a
    warning or an error, and exceptions that nobody caught."""

    connection: ClientConnection
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self.connection.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self.connection.recv(timeout=_PATIENCE))
            if told.get("id") == number:
                assert "error" not in told, told
                return told["result"]
            self._note(told)

    def _note(self, told: dict[str, Any]) -> None:
        parameters = told.get("params", {})
        match told.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(parameters["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(parameters["args"])[:500])
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.complaints.append(parameters["entry"]["text"])
            case _:
                pass

    def open(self, address: str, *, width: int = 1280, height: int = 900) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.size(width, height)
        self.send("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def size(self, width: int, height: int) -> None:
        metrics = {"deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, **metrics)

    def evaluate(self, script: str) -> Any:
        """The value of an expression; a promise is awaited."""
        told = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression is true."""
        until = time.monotonic() + _PATIENCE
        while not self.evaluate(condition):
            assert time.monotonic() < until, f"never true: {condition}"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        codes = {"Tab": 9, "Enter": 13}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            code = codes[key]
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more
            )

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        told = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(told["data"]))


@contextmanager
def browser_page() -> Iterator[Page]:
    """A fresh browser with a profile of its own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="atr-chromium-", ignore_cleanup_errors=True) as profile:
        command = [chromium(), *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            assert process.stderr is not None
            with killed_when_late(process, "the start of a browser"):
                told = (re.search(r"ws://127\.0\.0\.1:(\d+)/", line) for line in process.stderr)
                port = next(found[1] for found in told if found)
            with connect(_tab(int(port)), max_size=None, proxy=None) as connection:
                yield Page(connection)
        finally:
            process.terminate()
            exit_code(process, "a browser")
            if process.stderr:
                process.stderr.close()


def _tab(port: int) -> str:
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=_PATIENCE) as answer:
        tabs = json.load(answer)
    address: str = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
    return address
