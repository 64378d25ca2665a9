"""The official time-skipping test server: found, downloaded by the SDK, or put together from Maven."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from importlib import resources
from pathlib import Path

from edgeshift.testbed.temporal_server.fetching import (
    BinaryError,
    Progress,
    cache_dir,
    only_one,
    print_progress,
    run_shown,
    sdk_download,
)

TEST_SERVER_VARIABLE = "EDGESHIFT_TEMPORAL_TEST_SERVER"
TEST_SERVER_ARTIFACT = "io.temporal:temporal-test-server"
TEST_SERVER_VERSION = "1.34.0"

_LOOPBACK_CLASS = "LoopbackTestServer"
_STOCK_CLASS = "io.temporal.testserver.TestServer"

_GOAL = "dependency:copy-dependencies"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>edgeshift</groupId>
  <artifactId>time-skipping-test-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
"""

# The SDK starts the server with the port alone and may be killed before it can stop it: the loop beside
# it ends it with its parent. `$$` stays the same number through exec, so the SDK's signals reach Java.
_WRAPPER = """#!/bin/sh
parent=$PPID
(
  while kill -0 "$parent" 2>/dev/null && kill -0 "$$" 2>/dev/null; do sleep 1; done
  kill -9 "$$"
) >/dev/null 2>&1 </dev/null &
exec {java} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx512m -cp {classpath} {main} "$@"
"""


def time_skipping_server(*, cache: Path | None = None, progress: Progress = print_progress) -> Path:
    """The path of the test server, as the SDK's `start_time_skipping(test_server_existing_path=…)` takes it.

    Looked for in this order: the variable EDGESHIFT_TEMPORAL_TEST_SERVER, the cache, the Temporal SDK's
    own download, and the Maven artifact behind a wrapper script. The wrapper listens on 127.0.0.1 only
    when a Java compiler is there (the server's own main class binds every interface, and so does the one
    that the SDK downloads), and ends within two seconds of its parent's death. Raises BinaryError when
    none of the ways leads anywhere.
    """
    if named := os.environ.get(TEST_SERVER_VARIABLE):
        if not os.access(named, os.X_OK):
            raise BinaryError(f"{TEST_SERVER_VARIABLE} names {named}, which is no executable file")
        return Path(named)
    folder = (cache or cache_dir()) / f"temporal-test-server-{TEST_SERVER_VERSION}"
    found = folder / "temporal-test-server"
    if os.access(found, os.X_OK):
        return found
    with only_one(folder, progress):
        if os.access(found, os.X_OK):
            return found
        if downloaded := sdk_download("test-server", folder / "sdk", progress):
            os.replace(downloaded, found)
            return found
        return _from_maven(folder, found, progress)


def _from_maven(folder: Path, destination: Path, progress: Progress) -> Path:
    maven, java = shutil.which("mvn"), shutil.which("java")
    if maven is None or java is None:
        raise BinaryError(_no_way(f"{'Maven' if maven is None else 'Java'} is not on PATH"))
    jars = folder / "lib"
    group, artifact = TEST_SERVER_ARTIFACT.split(":")
    with tempfile.TemporaryDirectory(dir=folder, prefix="maven-") as scratch:
        pom = Path(scratch) / "pom.xml"
        pom.write_text(_POM.format(group=group, artifact=artifact, version=TEST_SERVER_VERSION))
        fetched = Path(scratch) / "lib"
        try:
            run_shown(
                [
                    maven,
                    "-B",
                    "-q",
                    "-f",
                    pom,
                    "-DincludeScope=runtime",
                    f"-DoutputDirectory={fetched}",
                    _GOAL,
                ],
                what=f"Fetching the time-skipping test server {TEST_SERVER_VERSION} with Maven (once)",
                progress=progress,
            )
            main = _compile_loopback_main(fetched, progress)
        except BinaryError as error:
            raise BinaryError(_no_way(str(error))) from error
        shutil.rmtree(jars, ignore_errors=True)
        os.replace(fetched, jars)
        wrapper = Path(scratch) / "wrapper"
        wrapper.write_text(
            _WRAPPER.format(java=shlex.quote(java), classpath=shlex.quote(f"{jars}:{jars}/*"), main=main)
        )
        wrapper.chmod(0o755)
        # Last, so that a half-filled folder is never taken for a whole one.
        os.replace(wrapper, destination)
    return destination


def _compile_loopback_main(jars: Path, progress: Progress) -> str:
    compiler = shutil.which("javac")
    if compiler is None:
        progress("    no Java compiler: the test server will listen on every interface, not only on loopback")
        return _STOCK_CLASS
    wrapper = resources.files("edgeshift.testbed.temporal_server") / f"{_LOOPBACK_CLASS}.java"
    with resources.as_file(wrapper) as source:
        run_shown(
            [compiler, "-cp", f"{jars}/*", "-d", jars, source],
            what="Compiling its main class for loopback",
            progress=progress,
        )
    return _LOOPBACK_CLASS


def _no_way(last: str) -> str:
    return (
        "no time-skipping test server was found. One of these three ways is needed:\n"
        f"  1. let {TEST_SERVER_VARIABLE} name one\n"
        "  2. internet, for the Temporal SDK's own download\n"
        f"  3. Java and Maven, for {TEST_SERVER_ARTIFACT}:{TEST_SERVER_VERSION}\n"
        f"The last one tried: {last}"
    )
