"""Finding and getting the Temporal binaries: the order of the ways, one build at a time, clear words."""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import stat
import time
from pathlib import Path

import pytest

from edgeshift.testbed.temporal_server import binaries
from edgeshift.testbed.temporal_server.binaries import CLI_SUM, CLI_VERSION, main, temporal_cli
from edgeshift.testbed.temporal_server.fetching import BinaryError, run_shown, sdk_download
from edgeshift.testbed.temporal_server.time_skipping import TEST_SERVER_VERSION, time_skipping_server

_RUNS = "#!/bin/sh\nexit 0\n"
_FAILS = "#!/bin/sh\necho 'wrong architecture' >&2\nexit 7\n"
# Stands in for three minutes of compiling: counts its runs, and puts a binary where it is told to.
_GO = """#!/bin/sh
echo "$@" >> "{record}"
if [ "$1" = mod ]; then
  printf '%s' '{{"Dir": "{source}", "Sum": "{checksum}"}}'
  exit 0
fi
sleep 1
printf '#!/bin/sh\\nexit 0\\n' > "$5"
chmod +x "$5"
"""


def go_that_builds(tmp_path: Path, checksum: str = CLI_SUM) -> str:
    """Go as it would be: it says this checksum of the module, and notes what it is asked."""
    return _GO.format(record=tmp_path / "go-runs", source=tmp_path, checksum=checksum)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing: no variable, no internet, and a PATH of one folder, which is the answer."""
    ours = ("EDGESHIFT_TEMPORAL_CLI", "EDGESHIFT_TEMPORAL_CLI_SHA256", "EDGESHIFT_TEMPORAL_TEST_SERVER")
    for variable in (*ours, "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    path = tmp_path / "bin"
    path.mkdir()
    for tool in ("sh", "sleep", "chmod"):
        (path / tool).symlink_to(_tool(tool))
    monkeypatch.setenv("PATH", str(path))
    return path


def test_the_variable_comes_first(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What EDGESHIFT_TEMPORAL_CLI names is used, whatever else there is."""
    _script(bare / "temporal", _RUNS)
    named = _script(tmp_path / "mine", _RUNS)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI", str(named))
    assert temporal_cli(cache=tmp_path / "cache") == named


def test_a_named_cli_that_does_not_run_is_an_error(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is taken in its place: the variable is named, with what went wrong."""
    _script(bare / "temporal", _RUNS)
    for path, complaint in (
        (tmp_path / "none", "No such file"),
        (_script(tmp_path / "x", _FAILS), "wrong arch"),
    ):
        monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI", str(path))
        with pytest.raises(BinaryError, match=f"EDGESHIFT_TEMPORAL_CLI names {path}.*{complaint}"):
            temporal_cli(cache=tmp_path / "cache")


def test_path_comes_before_the_cache_and_has_to_run(bare: Path, tmp_path: Path) -> None:
    """A `temporal` on PATH is used if it runs; one that does not is passed over."""
    cached = _cached(tmp_path, _RUNS)
    on_path = _script(bare / "temporal", _RUNS)
    assert temporal_cli(cache=tmp_path) == on_path
    _script(on_path, _FAILS)
    assert temporal_cli(cache=tmp_path) == cached


def test_go_builds_it_once_for_many_processes(bare: Path, tmp_path: Path) -> None:
    """Two that need it at the same time get the same binary of one build, and a third finds it there."""
    record = tmp_path / "go-runs"
    _script(bare / "go", go_that_builds(tmp_path))
    told: list[str] = []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = [
            pool.submit(temporal_cli, cache=tmp_path / "cache", progress=told.append) for _ in range(2)
        ]
        found = {each.result(timeout=60) for each in waiting}
    assert found == {tmp_path / "cache" / f"temporal-cli-{CLI_VERSION}" / "temporal"}
    assert temporal_cli(cache=tmp_path / "cache", progress=told.append) in found
    asked = record.read_text().splitlines()
    assert asked[0] == f"mod download -json github.com/temporalio/cli@{CLI_VERSION}"
    assert len(asked) == 2 and asked[1].startswith("build -mod=readonly ")
    assert sum("three minutes" in line for line in told) == 1
    assert sum("waiting for it" in line for line in told) == 1


def test_a_cached_cli_that_no_longer_runs_is_built_anew(bare: Path, tmp_path: Path) -> None:
    """A damaged cache fixes itself."""
    cached = _cached(tmp_path, _FAILS)
    _script(bare / "go", go_that_builds(tmp_path))
    assert temporal_cli(cache=tmp_path, progress=lambda _: None) == cached
    assert cached.read_text() == _RUNS


def test_source_with_another_checksum_is_not_built(bare: Path, tmp_path: Path) -> None:
    """Whatever a proxy hands out under the version's name: the error says both checksums."""
    _script(bare / "go", go_that_builds(tmp_path, "h1:another="))
    with pytest.raises(BinaryError, match=r"has the checksum h1:another=, not h1:0RZM.*not built"):
        temporal_cli(cache=tmp_path / "cache", progress=lambda _: None)
    assert "build" not in (tmp_path / "go-runs").read_text()


def test_where_a_checksum_is_said_the_cli_has_to_have_it(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a named, an installed and a cached one alike; in capitals as well."""
    right = hashlib.sha256(_RUNS.encode()).hexdigest()
    named = _script(tmp_path / "mine", _RUNS)
    cached = _cached(tmp_path / "cache", _RUNS)
    for found, variable in ((named, str(named)), (cached, "")):
        monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI", variable)
        monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI_SHA256", right.upper())
        assert temporal_cli(cache=tmp_path / "cache") == found
        monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI_SHA256", "0" * 64)
        with pytest.raises(BinaryError, match=f"{found} has the SHA-256 {right}.*not used"):
            temporal_cli(cache=tmp_path / "cache")


def test_the_download_is_of_one_version(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK is told which; what says that it is another one is not used."""
    asked: list[str] = []
    says = "1.6.0"

    def download(kind: str, into: Path, progress: object, version: str = "") -> Path:
        asked.append(version)
        into.mkdir(parents=True, exist_ok=True)
        return _script(into / "cli", f"#!/bin/sh\necho 'temporal version {says} (Server 1.29.1)'\n")

    monkeypatch.setattr(binaries, "sdk_download", download)
    with pytest.raises(BinaryError, match="no Temporal CLI was found"):
        temporal_cli(cache=tmp_path / "cache", progress=lambda _: None)
    says = CLI_VERSION.removeprefix("v")
    assert temporal_cli(cache=tmp_path / "cache", progress=lambda _: None).name == "temporal"
    assert asked == [CLI_VERSION, CLI_VERSION]


def test_no_way_at_all_names_the_four_ways(bare: Path, tmp_path: Path) -> None:
    """On a bare machine the error says what would help."""
    with pytest.raises(BinaryError) as caught:
        temporal_cli(cache=tmp_path)
    for way in ("EDGESHIFT_TEMPORAL_CLI", "on PATH", "internet", "Go, to build", "Go is not on PATH"):
        assert way in str(caught.value)


def test_a_failed_build_is_quoted(bare: Path, tmp_path: Path) -> None:
    """Go's own last words are in the error, and nothing half-built stays."""
    _script(bare / "go", _FAILS)
    with pytest.raises(BinaryError, match=r"(?s)four ways.*wrong architecture"):
        temporal_cli(cache=tmp_path, progress=lambda _: None)
    folder = tmp_path / f"temporal-cli-{CLI_VERSION}"
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "sdk"]


def test_no_internet_is_noticed_quickly(bare: Path, tmp_path: Path) -> None:
    """Without internet the SDK's own download gives up at once, and says nothing."""
    told: list[str] = []
    begun = time.monotonic()
    assert sdk_download("cli", tmp_path / "sdk", told.append) is None
    assert time.monotonic() - begun < 20
    assert told == []


def test_without_java_the_test_server_names_its_three_ways(bare: Path, tmp_path: Path) -> None:
    """Maven or Java missing is named beside the other ways."""
    with pytest.raises(BinaryError, match=r"(?s)EDGESHIFT_TEMPORAL_TEST_SERVER.*internet.*Maven is not on"):
        time_skipping_server(cache=tmp_path)


def test_a_cached_test_server_is_used(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once got, it is found without any tool; the variable comes before it."""
    folder = tmp_path / f"temporal-test-server-{TEST_SERVER_VERSION}"
    folder.mkdir()
    cached = _script(folder / "temporal-test-server", _RUNS)
    assert time_skipping_server(cache=tmp_path) == cached
    named = _script(tmp_path / "mine", _RUNS)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_TEST_SERVER", str(named))
    assert time_skipping_server(cache=tmp_path) == named
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_TEST_SERVER", str(tmp_path / "none"))
    with pytest.raises(BinaryError, match="no executable file"):
        time_skipping_server(cache=tmp_path)


def test_fetching_ahead_prints_the_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python -m …temporal_server.binaries` answers with the path, or with one error and exit code 1."""
    named = _script(tmp_path / "temporal", _RUNS)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_CLI", str(named))
    assert main([]) == 0
    assert str(named) in capsys.readouterr().out
    named.unlink()
    assert main([]) == 1
    assert capsys.readouterr().err.startswith("error: EDGESHIFT_TEMPORAL_CLI names")


def test_a_long_step_says_that_it_still_works(tmp_path: Path) -> None:
    """Elapsed seconds are told while one waits."""
    told: list[str] = []
    run_shown(["sleep", "1"], what="Waiting", progress=told.append, every=0.3)
    assert told[0] == "==> Waiting"
    assert sum(line.strip().startswith("…") for line in told) >= 2


def _script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _cached(cache: Path, text: str) -> Path:
    folder = cache / f"temporal-cli-{CLI_VERSION}"
    folder.mkdir(parents=True)
    return _script(folder / "temporal", text)


def _tool(name: str) -> str:
    return next(str(path) for folder in os.defpath.split(":") if (path := Path(folder) / name).exists())
