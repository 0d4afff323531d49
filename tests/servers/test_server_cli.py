"""`atr-server` on the command line: listings, and mistakes that get one clear line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from atr_data import load_episode
from atr_ontology import load_ontology
from atr_servers.cli.app import main
from tests.conftest import ROOT
from tests.support.tiny_episode import GOLD, write_episode

SESSION = ("--session", "tiny_shop_test")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def test_help_needs_none_of_the_slow_imports() -> None:
    script = (
        "import sys; from atr_servers.cli.app import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print(sorted({'mcp', 'starlette', 'uvicorn', 'structlog'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", [[], ["serve"], ["config"], ["tools"], ["sessions"]])
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    code, out, _ = run(capsys, *command, "--help")
    assert code == 0
    assert out.startswith("Usage: atr-server")


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.startswith("atr-server, version ")


def test_without_a_command_the_help_is_shown_and_it_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys)
    assert code == 2
    assert "Commands:" in err


def test_an_interrupt_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("atr_servers.cli.listing_commands.load_ontology", interrupted)
    assert run(capsys, "tools")[0] == 130


def test_tools_are_listed_by_domain(capsys: pytest.CaptureFixture[str]) -> None:
    _, everything, _ = run(capsys, "tools")
    _, travel, _ = run(capsys, "tools", "travel")
    ontology = load_ontology()
    groups = (ontology.base_tools, *(domain.tools for domain in ontology.domains.values()))
    listed = [line.split()[0] for line in everything.splitlines() if line.startswith("  ")]
    assert listed == [tool.name for group in groups for tool in group]
    assert "search_hotels" in travel
    assert "get_user_confirmation" in travel
    assert "place_order" not in travel


def test_tools_as_json_hold_all_that_an_agent_sees(capsys: pytest.CaptureFixture[str]) -> None:
    tools = json.loads(run(capsys, "tools", "commerce", "--json")[1])
    order = next(tool for tool in tools if tool["name"] == "place_order")
    assert set(order) == {"domain", "name", "title", "kind", "description", "inputSchema"}
    assert order["inputSchema"]["required"] == ["product_id", "quantity"]
    assert [tool["name"] for tool in tools if tool["domain"] is None] == ["get_user_confirmation"]


def test_sessions_are_listed_without_anything_of_the_gold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "sessions", "--episode", write_episode(tmp_path))
    assert code == 0
    assert out.splitlines() == [
        "tiny_s00\tlearning\tcommerce\tA lamp.",
        "tiny_shop_test\ttest\tcommerce\tDo it.",
        "tiny_trip_test\ttest\ttravel\tDo it.",
    ]
    assert GOLD not in out


def test_sessions_as_json_hold_what_a_player_needs_and_nothing_of_the_gold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "sessions", "--json", "--episode", write_episode(tmp_path))
    learning, shop, _ = json.loads(out)
    assert (learning["task"], learning["task_params"]) == ("A lamp.", {"quantity": 1})
    assert shop == {
        "session_id": "tiny_shop_test",
        "session_type": "test",
        "domain": "commerce",
        "task": "Do it.",
        "tools": ["search_products", "place_order", "build_shopping_list"],
    }
    assert GOLD not in out


ODALYS = str(ROOT / "data" / "episodes" / "odalys_renner_seed000.json")


@pytest.mark.parametrize("name", ["odalys_renner", "odalys_renner_seed000", "odalys*", ODALYS])
def test_an_episode_is_named_as_atr_client_names_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "sessions", "--episode", name)
    first = load_episode(ODALYS).ordered_learning_sessions()[0]
    assert out.startswith(f"odalys_renner_s00\tlearning\t{first.domain}\t{first.reason_for_call}\n")
    _, block, _ = run(capsys, "config", "generic", "--episode", name, "--session", "odalys_renner_s00")
    assert json.loads(block)["args"][3] == ODALYS


def test_the_sessions_of_a_shipped_split_are_those_of_its_episodes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "sessions", "--episode", "split:mini")
    assert len({line.split("_s")[0].partition("_test")[0] for line in out.splitlines()}) >= 5
    assert len(out.splitlines()) == 210


def test_a_name_that_means_no_episode_or_several_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    session = ("--session", "odalys_renner_s00")
    assert "near: odalys_renner" in complaint(capsys, "serve", "--episode", "odalis_renner", *session)
    assert "means 5 episodes" in complaint(capsys, "config", "codex", "--episode", "split:mini", *session)
    assert "no split 'x'" in complaint(capsys, "sessions", "--episode", "split:x")


def test_an_unknown_episode_gets_near_matches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_episode(tmp_path)
    err = complaint(capsys, "serve", "--episode", tmp_path / "tinny_seed000.json", *SESSION)
    assert "no such file; near matches: tiny_seed000.json" in err


def test_an_unknown_session_gets_near_matches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode = write_episode(tmp_path)
    err = complaint(capsys, "serve", "--episode", episode, "--session", "tiny_shop_tset")
    assert "near matches: tiny_shop_test" in err
    err = complaint(capsys, "serve", "--episode", episode, "--session", "0")
    assert "`atr-server sessions` lists them" in err


def test_another_domain_than_the_sessions_is_refused_with_the_sessions_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episode = write_episode(tmp_path)
    err = complaint(capsys, "serve", "travel", "--episode", episode, *SESSION)
    assert "is a commerce session; its travel sessions: tiny_trip_test" in err
    err = complaint(capsys, "serve", "workspace", "--episode", episode, *SESSION)
    assert "it has no workspace session" in err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("serve",), "--episode FILE and --session ID, or DOMAIN and --references FILE"),
        (("serve", "--episode", "FILE"), "--session ID"),
        (("serve", "auto", "--references", "FILE"), "DOMAIN and --references"),
        (("serve", "commerce", "--references", "FILE", "--episode", "FILE", *SESSION), "--references"),
        (("serve", "comerce"), "'comerce' is not one of"),
        (("serve", "--port", "1"), "--port needs --http"),
        (("serve", "--max-environments", "1"), "--max-environments needs --http"),
        (("serve", "--allow-host", "x"), "--allow-host needs --http"),
        (("serve", "--http", "--state", "FILE"), "--state"),
        (("serve", "--http", "--ttl", "0"), "--ttl"),
        (("serve", "--http", "--port", "70000"), "--port"),
        (("serve", "--http", "--session", "x"), "--episode FILE"),
        (("serve", "--http", "--host", "0.0.0.0"), "--token-env"),
        (("serve", "--http", "--host", "bench.example"), "--token-env"),
        (("serve", "--http", "--token-env", "ATR_TEST_UNSET"), "ATR_TEST_UNSET"),
        (("serve", "--epsiode", "x"), "--episode"),
        (("server",), "serve"),
        (("config", "emacs"), "claude-desktop"),
        (("config",), "claude-desktop"),
        (("config", "codex"), "--url URL"),
        (("config", "codex", "--url", "127.0.0.1:8765"), "--url must be an address"),
        (("config", "codex", "--url", "http://[::1"), "--url must be an address"),
        (("config", "codex", "--url", "http://h/env/x/mcp", *SESSION), "--url, or --episode"),
        (("config", "codex", "--url", "http://h/env/x/mcp", "--token-env", "a b"), "--token-env"),
        (("config", "codex", "--episode", "FILE", *SESSION, "--token-env", "T"), "--url"),
        (("config", "claude-desktop", "--url", "http://h/env/x/mcp"), "commands alone"),
        (("serve", "travel", "--http"), "--references FILE"),
        (("tools", "commerse"), "commerce"),
    ],
)
def test_a_mistake_in_usage_gets_one_line(
    arguments: tuple[str, ...], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episode = str(write_episode(tmp_path))
    assert expected in complaint(capsys, *(episode if a == "FILE" else a for a in arguments))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not JSON"),
        ("{}", "is missing"),
        ('{"episode_id": NaN}', "NaN"),
    ],
)
def test_a_broken_episode_gets_one_line_with_file_and_reason(
    text: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text)
    err = complaint(capsys, "serve", "--episode", file, *SESSION)
    assert err.startswith(f"error: {file}: ")
    assert expected in err


def test_references_must_be_a_list_of_references(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "references.json"
    file.write_text('[{"id": "prod_cup"}]')
    err = complaint(capsys, "serve", "commerce", "--references", file)
    assert err == f"error: {file}: [0].type: is missing\n"


def test_a_tool_that_the_domain_lacks_stops_the_start(tmp_path: Path) -> None:
    episode = write_episode(tmp_path)
    episode.write_text(episode.read_text().replace('"search_hotels"', '"search_hotel"'))
    command = [sys.executable, "-m", "atr_servers.cli", "serve", "--episode", str(episode)]
    ended = subprocess.run(
        [*command, "--session", "tiny_trip_test"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: the domain travel has no tool 'search_hotel'")
