"""Configurations: every wrong key has a line that says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from jsonschema import ValidationError, validate

from atr_client.errors import ConfigError
from atr_client.sweep.config_file import load_config, packaged_configs, track_of
from atr_client.sweep.folders import check_writable, episodes_folder, outputs_root
from atr_client.sweep.plan import Overrides, plan_cells
from atr_data.yaml_reading import read_yaml
from tests.support.cells import small_episode
from tests.support.command import run_cli, write_config

GOOD = {"name": "x", "variants": ["atr"], "models": ["offline/noop"]}


def _config(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text(dedent(text))
    return path


def _episodes(folder: Path, *personas: str) -> Path:
    folder.mkdir()
    for persona in personas:
        episode = small_episode(persona)
        (folder / f"{episode.episode_id}.json").write_text(episode.model_dump_json())
    return folder


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("variants: [atr]\nmodels: [m]\n", "name: Field required"),
        (
            "name: x\nvariant: [atr]\nvariants: [atr]\nmodels: [m]\n",
            "variant: unknown key; did you mean 'variants'?",
        ),
        (
            "name: x\nvariants: [atr]\nmodels: [m]\nlimits: {max_step: 3}\n",
            "limits.max_step: unknown key; did you mean 'max_steps'?",
        ),
        (
            "name: x\nvariants: [always_asks]\nmodels: [m]\n",
            "variants.0: unknown variant 'always_asks'; did you mean 'always_ask'?",
        ),
        ("name: x\nvariants: [oracle]\nmodels: [m]\n", "oracle_target"),
        ("name: x\nvariants: []\nmodels: [m]\n", "variants"),
        ("name: x\nvariants: [atr]\nmodels: [m]\nmemory_layer: native\n", "native memory"),
        ("name: x\nvariants: [atr]\nmodels: [m]\nlimits: {timeout: 0}\n", "limits.timeout"),
        ("name: x\nvariants: [atr]\nmodels: [m]\ntrials: 0\n", "trials"),
        ("name: x\nvariants: [atr]\nmodels: [m]\nexclude: [{}]\n", "exclude.0: names nothing"),
        (
            "name: x\nvariants: [atr]\nmodels: [m]\ninclude: [{modell: m}]\n",
            "include.0.modell: unknown key; did you mean 'model'?",
        ),
        (
            "name: x\nvariants: [atr]\nmodels: [{id: a/b, base_url: 'http://${NOT_SET_HERE}/v1'}]\n",
            "models.0.base_url: the environment variable NOT_SET_HERE is not set",
        ),
        (
            "name: x\nvariants: [atr]\nmodels: [m]\noutputs: ${HOME}/x\n",
            "outputs: ${HOME} is read in addresses only",
        ),
        ("name: x\nvariants: [atr]\nmodels: [m]\nlimits: {cells: 0}\n", "limits.cells"),
        ("name: x\nvariants: [atr]\nmodels: [m]\nuser_sim: {make: paid}\n", "user_sim.make"),
        ("- a\n", "expected keys and values"),
        ("name: x\nvariants: [atr]\nmodels: [m]\nlimits: {cost_usd: .inf}\n", "limits.cost_usd"),
        (
            "name: x\nvariants: [atr]\nmodels: [{id: m, price: {input: .inf, output: 1}}]\n",
            "models.0.price.input",
        ),
        (
            "name: x\nlimits: {cost_usd: 5}\nlimits: {cells: 2}\n",
            "line 3 not YAML: the key 'limits' stands twice",
        ),
        ("name: [x\n", "not YAML"),
        ("\x00", "cannot be read"),
    ],
)
def test_a_wrong_configuration_is_one_line_with_file_key_and_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(str(path))
    message = str(caught.value)
    assert reason in message
    assert message.startswith(str(path))
    assert "\n" not in message


def test_a_folder_does_not_hide_the_packaged_configuration_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quickstart").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_config("quickstart").name == "quickstart"


def test_an_unknown_name_suggests_a_packaged_configuration() -> None:
    with pytest.raises(ConfigError, match="did you mean 'quickstart'"):
        load_config("quickstat")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config("none.yaml")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    done = run_cli("schema")
    assert done.exit_code == 0
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", [n for n in sorted(packaged_configs()) if track_of(n) == "episodes"])
def test_every_packaged_configuration_fits_the_schema_and_has_a_plan(
    name: str, schema: dict[str, Any], tmp_path: Path, official_dir: Path
) -> None:
    config = load_config(name)
    validate(_as_yaml_1_2(packaged_configs()[name]), schema)
    folder = ["--episodes", str(official_dir / "episodes")] if config.episodes.needs_folder else []
    outputs = tmp_path / "outputs"
    done = run_cli("run", "--config", name, "--dry-run", "--outputs", str(outputs), *folder)
    assert done.exit_code == 0, done.stderr
    *cells, total = done.stdout.splitlines()
    assert total.startswith(f"{name}: {len(cells)} cells ({len(cells)} new)")
    assert len(set(cells)) == len(cells) > 0
    assert {cell.split()[-1].split("/")[-1].split("__")[0] for cell in cells} == set(config.variants)
    assert not outputs.exists()


@pytest.mark.parametrize("name", [n for n in sorted(packaged_configs()) if track_of(n) == "timing"])
def test_a_configuration_of_the_timing_track_fits_the_same_schema(name: str, schema: dict[str, Any]) -> None:
    document = read_yaml(packaged_configs()[name])
    validate(document, schema)
    validate({**document, "memory": "own", "history_window_s": 60, "reasoning": False}, schema)
    for wrong in ({"memory": ["elephant"]}, {"variants": ["atr"]}, {"set": {"split": "tiny"}}):
        with pytest.raises(ValidationError):
            validate({**document, **wrong}, schema)


def test_the_papers_configuration_on_the_official_release_has_640_cells(
    tmp_path: Path, official_dir: Path
) -> None:
    options = ("--outputs", str(tmp_path / "o"), "--episodes", str(official_dir / "episodes"))
    done = run_cli("run", "--config", "paper", "--dry-run", *options)
    assert "paper: 640 cells (640 new), 22,720 sessions" in done.stdout


@pytest.mark.parametrize(
    "wrong",
    [
        {"variants": ["oracle"]},
        {"memory_layer": "native"},
        {"trials": 0},
        {"models": [{"name": "m"}]},
        {"exclude": [{"variants": "atr"}]},
        {"reasoning": "high"},
        {"limit": {}},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_the_schema_refuses_what_the_reader_refuses(wrong: dict[str, Any], schema: dict[str, Any]) -> None:
    validate(GOOD, schema)
    with pytest.raises(ValidationError):
        validate({**GOOD, **wrong}, schema)


def _as_yaml_1_2(path: Path) -> Any:
    """As an editor reads it: on and off are words."""
    text = re.sub(r"\b(on|off)\b", r"'\1'", re.sub("#.*", "", path.read_text()))
    return yaml.safe_load(text)


def test_a_configuration_that_needs_a_folder_says_how_to_name_one() -> None:
    config = load_config("official")
    with pytest.raises(ConfigError, match="--episodes DIR or ATR_EPISODES"):
        episodes_folder(config, environment={})
    assert episodes_folder(config, environment={"ATR_EPISODES": "here"}) == Path("here")
    assert episodes_folder(config, Path("there"), environment={"ATR_EPISODES": "here"}) == Path("there")


def test_the_outputs_folder_is_the_option_then_the_variable_then_the_file() -> None:
    config = load_config("quickstart")
    assert outputs_root(config, Path("a"), {"ATR_OUTPUTS_ROOT": "b"}) == Path("a")
    assert outputs_root(config, None, {"ATR_OUTPUTS_ROOT": "b"}) == Path("b")
    assert outputs_root(config, None, {}) == Path(config.outputs)


def test_an_outputs_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written to"):
        check_writable(tmp_path / "file" / "outputs")


def test_a_sweep_is_every_episode_with_every_model_and_variant(tmp_path: Path) -> None:
    folder = _episodes(tmp_path / "episodes", "pp_a", "pp_b")
    path = _config(
        tmp_path,
        f"""
        name: x
        episodes: {{folder: {folder}}}
        variants: [atr, oracle_target]
        models: [offline/noop, offline/gold]
        """,
    )
    cells = plan_cells(load_config(str(path)), tmp_path / "outputs")
    assert len(cells) == 8
    assert {cell.manifest.privileged for cell in cells if cell.key.model == "offline/gold"} == {True}
    assert {cell.manifest.privileged for cell in cells if cell.key.model == "offline/noop"} == {False}


def test_an_unknown_model_is_refused_with_the_nearest(tmp_path: Path) -> None:
    folder = _episodes(tmp_path / "episodes", "pp_a")
    path = _config(tmp_path, "name: x\nvariants: [atr]\nmodels: [offline/noob]\n")
    with pytest.raises(ConfigError, match="did you mean 'offline/noop'"):
        plan_cells(load_config(str(path)), tmp_path, Overrides(episodes=folder))


def test_two_cells_that_would_share_a_folder_are_refused(tmp_path: Path) -> None:
    folder = _episodes(tmp_path / "episodes", "pp_a")
    path = _config(tmp_path, "name: x\nvariants: [atr, atr]\nmodels: [offline/noop]\n")
    with pytest.raises(ConfigError, match="two cells would share the folder"):
        plan_cells(load_config(str(path)), tmp_path, Overrides(episodes=folder))


def _plan(folder: Path, text: str, *options: str) -> list[str]:
    """The cells of a configuration over two personas, as `--dry-run` prints them."""
    episodes = folder / "episodes"
    if not episodes.exists():
        _episodes(episodes, "pp_a", "pp_b")
    path = _config(folder, f"name: x\nepisodes: {{folder: {episodes}}}\n{dedent(text)}")
    done = run_cli("run", "--config", str(path), "--dry-run", "--outputs", str(folder / "o"), *options)
    assert done.exit_code == 0, done.stderr
    return [line.split()[-1] for line in done.stdout.splitlines()[:-1]]


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ("include: [{model: '*/noop'}]", {"a atr noop", "a default noop", "b atr noop", "b default noop"}),
        ("include: [{persona: pp_a, variant: atr}]", {"a atr noop", "a atr naive"}),
        (
            "include: [{persona: pp_a}]\nexclude: [{variant: [atr]}, {model: offline/naive}]",
            {"a default noop"},
        ),
        ("include: [{episode: pp_b_*}]\nexclude: [{variant: d*}]", {"b atr noop", "b atr naive"}),
        (
            "exclude: [{layer: context, persona: pp_b}, {trial: 1, variant: atr}]",
            {"a default noop", "a default naive"},
        ),
    ],
)
def test_include_and_exclude_name_cells_by_any_dimension(tmp_path: Path, wanted: str, left: set[str]) -> None:
    cells = _plan(tmp_path, f"variants: [atr, default]\nmodels: [offline/noop, offline/naive]\n{wanted}\n")
    found = re.findall(r"pp_(\w)/seed\d+/(\w+?)__model-offline-(\w+?)__", "\n".join(cells))
    assert {" ".join(parts) for parts in found} == left
    assert len(found) == len(cells)


def test_a_pattern_without_a_cell_is_told_and_a_plan_without_cells_refused(tmp_path: Path) -> None:
    folder = _episodes(tmp_path / "episodes", "pp_a")
    text = f"name: x\nepisodes: {{folder: {folder}}}\nvariants: [atr]\nmodels: [offline/noop]\n"
    path = _config(tmp_path, text + "exclude: [{model: offline/noob}]\n")
    done = run_cli("run", "--config", str(path), "--dry-run")
    assert done.exit_code == 0
    assert "warning: exclude.0 matches no cell" in done.stderr
    path = _config(tmp_path, text + "include: [{model: offline/noob}]\n")
    done = run_cli("run", "--config", str(path), "--dry-run")
    assert done.exit_code == 2
    assert "include and exclude leave no cell" in done.stderr


def test_trials_have_folders_of_their_own_and_the_first_that_of_a_run_without(tmp_path: Path) -> None:
    once = _plan(tmp_path, "variants: [atr]\nmodels: [offline/noop]\n")
    thrice = _plan(tmp_path, "variants: [atr]\nmodels: [offline/noop]\ntrials: 3\n")
    assert set(once) < set(thrice)
    assert set(thrice) == {*once, *(f"{cell}__trial{n}" for cell in once for n in (2, 3))}
    assert (
        _plan(tmp_path, "variants: [atr]\nmodels: [offline/noop]\ntrials: 3\nexclude: [{trial: [2, 3]}]\n")
        == once
    )


def test_trials_are_played_once_each_and_told_apart_on_disk(tmp_path: Path) -> None:
    folder = _episodes(tmp_path / "episodes", "pp_a")
    path = _config(
        tmp_path,
        f"name: x\nepisodes: {{folder: {folder}}}\nvariants: [atr]\nmodels: [offline/noop]\ntrials: 2\n",
    )
    outputs = tmp_path / "outputs"
    assert run_cli("run", "--config", str(path), "--outputs", str(outputs)).exit_code == 0
    manifests = [json.loads(found.read_text()) for found in outputs.rglob("cell_manifest.json")]
    assert sorted(manifest["trial"] for manifest in manifests) == [1, 2]
    scored = run_cli("score", str(outputs))
    assert scored.exit_code == 0, scored.stderr
    assert len(list(outputs.rglob("eval.json"))) == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("limits.cells", "'limits.cells' is no key=value"),
        ("limits.cell=3", "limits.cell: unknown key; did you mean 'cells'?"),
        ("name.x=3", "name.x: there is nothing inside a value"),
        ("models.7.id=m", "models.7.id: '7' is no place in a list of 1"),
        ("trials=[", "trials: '[' is not YAML"),
        ("trials=many", "trials: "),
    ],
)
def test_a_change_on_the_command_line_that_cannot_be_is_one_line(
    tmp_path: Path, change: str, problem: str
) -> None:
    path = _config(tmp_path, "name: x\nvariants: [atr]\nmodels: [offline/noop]\n")
    done = run_cli("run", "--config", str(path), "--dry-run", "--set", change)
    assert done.exit_code == 2
    assert f"error: {path} with --set {change}: {problem}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_changes_on_the_command_line_win_over_the_file(tmp_path: Path) -> None:
    path = _config(tmp_path, "name: x\nvariants: [atr]\nmodels: [{id: offline/noop}]\nlimits: {cells: 1}\n")
    changes = ["limits.cells=7", "trials=2", "models.0.id=offline/gold", "user_sim.classifier=lexical"]
    config = load_config(path, [*changes, "exclude=[{trial: 2}]"])
    assert (config.limits.cells, config.trials, config.models[0].id) == (7, 2, "offline/gold")
    assert config.exclude[0].trial == [2]


def test_addresses_may_name_variables(tmp_path: Path) -> None:
    path = _config(
        tmp_path,
        """
        name: x
        variants: [atr]
        models:
          - {id: lab/m, wire: openai_chat, base_url: "http://${LAB_HOST}:80/v1"}
          - {id: cmd/mine, command: [sh, -c, "echo ${LAB_HOST}"]}
        """,
    )
    models = load_config(path, environment={"LAB_HOST": "127.0.0.1"}).models
    assert models[0].base_url == "http://127.0.0.1:80/v1"
    assert models[1].command == ["sh", "-c", "echo ${LAB_HOST}"]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            {"executor": "dask"},
            "executor: dask needs cluster, the scheduler's address, such as tcp://host:8786",
        ),
        ({"cluster": "tcp://127.0.0.1:8786"}, "cluster is for executor: dask"),
        ({"outputs": "s3://"}, "an address is KIND://BUCKET/FOLDER"),
        ({"outputs": "a", "output": "b"}, "unknown key"),
        ({"cluster": "tcp://${NO_SUCH_VARIABLE}:1"}, "the environment variable NO_SUCH_VARIABLE is not set"),
    ],
)
def test_where_cells_are_played_and_kept(tmp_path: Path, keys: dict[str, str], told: str) -> None:
    done = run_cli("run", "--config", write_config(tmp_path, models=["offline/asker"], **keys))
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
