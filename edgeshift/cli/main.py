"""The command line: its verbs, the options that all of them share, and what becomes of a failure."""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, NamedTuple, NoReturn

import typer

from edgeshift.cli.asking import not_confirmed
from edgeshift.cli.candidates import environments
from edgeshift.cli.errors import CommandError, ExitCode, described, show
from edgeshift.cli.help import Verbs
from edgeshift.cli.shell import Shell, adopt, current
from edgeshift.cli.streams import prepare
from edgeshift.runtime.private_files import keep_to_owner
from edgeshift.views.chosen import choose

BEGIN, RUN, DECIDE, LOOK, SERVE = "Begin", "Run", "Decide and steer", "Look", "Serve"


class Verb(NamedTuple):
    """A verb: the function or Typer application ``attribute`` of ``edgeshift.cli.<module>``, its line of
    help, its panel.
    """

    module: str
    attribute: str
    help: str
    panel: str

    @property
    def acts(self) -> bool:
        """Whether it may change a campaign or a zone."""
        return self.panel == DECIDE or self.module == "start"


VERBS: dict[str, Verb] = {
    "demo": Verb("demo", "demo", "Run a whole campaign over a generated fleet, here and now.", BEGIN),
    "up": Verb("up", "up", "Run the embedded stack: Temporal, simulator and worker.", BEGIN),
    "init": Verb("init", "init", "Write a commented campaign file.", BEGIN),
    "campaign-schema": Verb(
        "campaign_schema", "campaign_schema", "Print the JSON schema of a campaign file, for editors.", BEGIN
    ),
    "doctor": Verb("doctor", "doctor", "Check Temporal, service, credentials, archive and tickets.", BEGIN),
    "plan": Verb("plan", "plan", "Read every zone and show what would happen. Changes nothing.", RUN),
    "start": Verb("start", "start", "Start a campaign.", RUN),
    "sign-off": Verb("sign_off", "app", "Approve or reject what waits for a sign-off.", DECIDE),
    "pause": Verb("control", "pause", "Begin no new step until resume.", DECIDE),
    "resume": Verb("control", "resume", "Continue after a pause or a halt.", DECIDE),
    "abort": Verb("control", "abort", "End a campaign; steps in flight finish first.", DECIDE),
    "retry": Verb("begin_again", "retry", "Restart failed, unknown and excluded zones.", DECIDE),
    "reopen": Verb("begin_again", "reopen", "Restart zones on hold, aborted or excluded.", DECIDE),
    "support-resolved": Verb(
        "support", "support_resolved", "Say that the provider has fixed a zone.", DECIDE
    ),
    "repair": Verb("repair", "repair", "Reset a workflow whose history does not replay.", DECIDE),
    "watch": Verb("watch", "watch", "Follow a campaign live.", LOOK),
    "status": Verb("status", "status", "Show a campaign, or list all.", LOOK),
    "alarms": Verb("alarms", "alarms", "List what needs a person now. Exit 7 if something does.", LOOK),
    "show": Verb("show", "show", "Show exactly what a zone would be sent, before you sign it.", LOOK),
    "history": Verb("history", "history", "Show what happened to a zone, and who agreed.", LOOK),
    "snapshot": Verb("snapshot", "snapshot", "Show what a zone had before it was changed.", LOOK),
    "report": Verb("report", "report", "Write a campaign's report as one HTML file.", LOOK),
    "export": Verb("export", "app", "Write Terraform for zones that have migrated.", LOOK),
    "audit": Verb("audit", "app", "Write who agreed to what as a file that proves it; verify one.", LOOK),
    "check": Verb("check", "check", "Read a migrated zone again: whether it is as signed.", LOOK),
    "esc": Verb("esc", "app", "Test by hand what changes without Edge Side Code.", LOOK),
    "open": Verb("opening", "app", "Open Temporal's pages or a report in a browser.", LOOK),
    "keys": Verb("keys", "app", "Make people's keys, and say in the roots whose they are.", SERVE),
    "completion": Verb("completion", "completion", "Print what lets a shell complete verbs.", SERVE),
    "worker": Verb("worker", "worker", "Run a worker until it is told to stop.", SERVE),
    "simulator": Verb("simulator", "simulator", "Run the simulated service.", SERVE),
    "fleet": Verb("fleet", "app", "Generate and check fleet files for the simulator.", SERVE),
}
"""Every verb. A module is imported only when its verb is called, so that help stays quick. That is why the
two of one area, ``export`` and ``esc``, are named here as well: an area that brought its own would be loaded
for help, and for whatever verb is called.
"""

THERE = frozenset(name for name, verb in VERBS.items() if verb.panel in (RUN, DECIDE, LOOK)) | {"doctor"}
"""The verbs that ask a Temporal or an archive."""

SHARED = {
    "--env": True,
    "--address": True,
    "--namespace": True,
    "--archive": True,
    **dict.fromkeys(("--quiet", "-q", "--verbose", "-v", "--no-color", "--debug"), False),
}
"""Options that may stand before or after the verb; whether each takes a value."""

_JOINED = re.compile("-[qv]{2,}")
"""Short ones of them in one word, which the parser of a verb does not know."""


COMPLETE = "_EDGESHIFT_COMPLETE"
"""The variable by which a shell asks for completions (edgeshift/cli/completion.py)."""

_METAVARS = {"--address": "HOST:PORT", "--archive": "URL"}


def build(verb: str | None) -> typer.Typer:
    """The application with ``verb`` loaded (or every verb, for ``None``) and the others known by name and
    help.
    """
    app = typer.Typer(
        name="edgeshift",
        cls=Verbs,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        help="Edge configuration changes over a fleet of zones, as durable campaigns that people sign off.",
        epilog="Settings may also come from the environment"
        " (EDGESHIFT_TEMPORAL_ADDRESS, EDGESHIFT_ARCHIVE_URL and so on), from a file with named environments,"
        " or from a stack that `edgeshift up` runs in this folder. See docs/cli.md.",
    )
    app.callback()(_shared_options)
    for name, entry in VERBS.items():
        if verb is not None and name != verb:
            app.command(name, help=entry.help, rich_help_panel=entry.panel)(_elsewhere)
            continue
        loaded = getattr(import_module(f"edgeshift.cli.{entry.module}"), entry.attribute)
        if isinstance(loaded, typer.Typer):
            app.add_typer(
                loaded,
                name=name,
                cls=Verbs,
                help=entry.help,
                rich_help_panel=entry.panel,
                no_args_is_help=True,
            )
        else:
            app.command(name, rich_help_panel=entry.panel)(loaded)
    return app


def _elsewhere() -> None:
    raise AssertionError("a verb that was not asked for was called")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"edgeshift {version('edgeshift')}")
        raise typer.Exit


def _shared_options(
    env: Annotated[
        str | None,
        typer.Option(
            help="A named environment of edgeshift.toml.", show_default=False, autocompletion=environments
        ),
    ] = None,
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where Temporal is.", show_default=False)
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="The namespace at Temporal.", show_default=False)
    ] = None,
    archive: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The archive: a folder or s3://, gs://, az://.", show_default=False),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only results and errors: no progress, no advice.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also say what is done: which Temporal, which requests.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours in the output.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if quiet and verbose:
        raise CommandError(
            "--quiet and --verbose exclude each other", ExitCode.BAD_INPUT, hint="give one of them"
        )
    choose(THERE, env=env, address=address, namespace=namespace, archive=archive)
    adopt(
        Shell(
            address=address,
            namespace=namespace,
            archive_url=archive,
            environment=env,
            no_color=no_color,
            debug=debug,
            quiet=quiet,
            verbose=verbose,
            as_json=current().as_json,
        )
    )


def arranged(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The arguments with the shared options before the verb, and the verb (None where there is none)."""
    shared: list[str] = []
    rest: list[str] = []
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--":
            rest += [word, *left]
            break
        if _JOINED.fullmatch(word):
            shared += [f"-{letter}" for letter in word[1:]]
            continue
        name, equals, _ = word.partition("=")
        if name in SHARED and not (equals and not SHARED[name]):
            shared.append(word)
            if SHARED[name] and not equals and left:
                shared.append(left.pop(0))
        else:
            rest.append(word)
    verb = next((word for word in rest if not word.startswith("-")), None)
    return shared + rest, verb


def called(arguments: Sequence[str]) -> int:
    """Call a verb; its exit code. A failure says on stderr what failed and what to do, with ``--json`` as
    JSON; a traceback only by ``--debug``.
    """
    given, verb = arranged(arguments)
    options = given[: given.index("--")] if "--" in given else given
    debug, as_json = "--debug" in options, "--json" in options
    shell = Shell(no_color="--no-color" in options, debug=debug, as_json=as_json)
    adopt(shell)
    try:
        if options and SHARED.get(last := arguments[-1]) and "--" not in given:
            hint = f"write it as {last} {_METAVARS.get(last, 'NAME')}"
            raise CommandError(f"{last} needs a value", ExitCode.BAD_INPUT, hint=hint)
        # An unknown verb loads nothing: the parser names it and what was meant.
        code = build(verb or "")(given, prog_name="edgeshift", standalone_mode=False)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except SystemExit as ended:
        # The parser makes an exit of its own of a reader that went away, as `head` does.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        code = _reader_gone(shell, verb, as_json=as_json)
    except BrokenPipeError:
        code = _reader_gone(shell, verb, as_json=as_json)
    except Exception as problem:
        code = _failed(shell, problem, verb, debug=debug, as_json=as_json)
    finally:
        choose()
    if code == ExitCode.INTERRUPTED:
        said = current().at_ctrl_c
        if as_json:
            show(shell.errors, CommandError(said, ExitCode.INTERRUPTED), as_json=True)
        else:
            shell.errors.print(said, markup=False, soft_wrap=True)
    return int(code or 0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Call the verb that the process was started with, and end with its exit code. Its files are for their
    owner alone.
    """
    keep_to_owner()
    prepare()
    given = sys.argv[1:] if arguments is None else arguments
    code = called(given)
    if (problem := _unwritable()) is not None and code == ExitCode.OK:
        show(current().errors, problem, as_json="--json" in given)
        code = problem.code
    end_with(code)


def _unwritable() -> CommandError | None:
    """What is wrong with stdout, once everything was given to it. A reader that went away is nothing wrong:
    what was asked for is done.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _to_nowhere()
    except OSError as problem:
        _to_nowhere()
        return _no_room(problem)
    return None


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _no_room(problem: OSError) -> CommandError:
    return CommandError(
        f"stdout cannot be written: {problem.strerror}", hint="send the output where there is room for it"
    )


def _reader_gone(shell: Shell, verb: str | None, *, as_json: bool) -> int:
    """The reader of stdout went away in the middle, as `head` does: a verb that only looks ends quietly. One
    that acts says so, since it may have ended before it acted.
    """
    _to_nowhere()
    entry = VERBS.get(verb or "")
    if entry is None or not entry.acts:
        return ExitCode.OK
    failure = CommandError(
        f"`edgeshift {verb}` ended early: nobody reads its output",
        hint="`edgeshift status` shows what it did; read its output to the end, or send it to a file",
    )
    show(shell.errors, failure, as_json=as_json)
    return failure.code


def _to_nowhere() -> None:
    """Let stdout write nothing any more: Python would complain again when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def end_with(code: int) -> NoReturn:
    """End the process at once, with everything printed.

    Threads of the native libraries (Temporal, object store) may still be giving back what they hold when the
    interpreter takes itself down, and then abort the process: a verb that succeeded would exit with 134.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            # The reader went away, as `head` does.
            continue
    if {"temporalio", "obstore"} & sys.modules.keys():
        logging.shutdown()
        os._exit(code)
    sys.exit(code)


def _failed(shell: Shell, problem: Exception, verb: str | None, *, debug: bool, as_json: bool) -> int:
    if (usage := _wrong_usage(problem)) is not None:
        show(shell.errors, usage, as_json=as_json)
        return usage.code
    failure = described(problem)
    if isinstance(problem, OSError) and not problem.filename and problem.errno in _NO_ROOM:
        # Whatever else is written names its file.
        _to_nowhere()
        failure = _no_room(problem)
    if debug:
        shell.errors.print_exception(show_locals=False)
    if failure is None:
        failure = CommandError(
            f"`edgeshift {verb or ''}".rstrip() + "` failed by a fault of its own",
            hint="report it with the traceback above" if debug else "--debug shows where; please report it",
        )
    show(shell.errors, failure, as_json=as_json)
    return failure.code


_NO_INTEGER = "Input should be a valid integer, unable to parse string as an integer"


def _wrong_usage(problem: Exception) -> CommandError | None:
    """A complaint of the parser. Its classes are private to typer, so it is known by what it can do."""
    if isinstance(problem, typer.Abort):
        return not_confirmed()
    if type(problem).__module__.startswith(("typer", "click")) and hasattr(problem, "format_message"):
        context = getattr(problem, "ctx", None)
        path = context.command_path if context is not None else "edgeshift"
        if type(problem).__name__ == "NoArgsIsHelpError" and context is not None:
            typer.echo(context.get_help())
            return CommandError(
                f"`{path}` needs a command", ExitCode.BAD_INPUT, hint=f"`{path} --help` lists them"
            )
        text = problem.format_message().replace("argument(s)", "argument").replace(": Value error, ", ": ")
        text = text.replace(_NO_INTEGER, "it must be a whole number").replace("Input should be", "it must be")
        return CommandError(
            text.rstrip("."), ExitCode.BAD_INPUT, hint=f"`{path} --help` lists arguments and options"
        )
    return None


if __name__ == "__main__":
    main()
