"""Configurations: every wrong key has a line that says so."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from atr_client.errors import ConfigError
from atr_client.sweep.config import load_config, packaged_configs, read_config
from atr_client.sweep.plan import Overrides, check_writable, episodes_folder, outputs_root, plan_cells
from tests.support.cells import small_episode

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


EPISODE_CONFIGS = sorted(n for n in packaged_configs() if read_config(n)[1].get("track") != "timing")


@pytest.mark.parametrize("name", EPISODE_CONFIGS)
def test_every_packaged_configuration_plans_its_cells(name: str, tmp_path: Path, official_dir: Path) -> None:
    config = load_config(name)
    folder = official_dir / "episodes" if config.episodes.needs_folder else None
    cells = plan_cells(config, tmp_path, Overrides(episodes=folder))
    assert len(cells) == len({cell.key.cell_id for cell in cells}) > 0
    assert {cell.key.variant for cell in cells} == set(config.variants)


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
    assert outputs_root(config, None, {}) == config.outputs


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
