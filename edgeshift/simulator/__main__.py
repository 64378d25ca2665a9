"""`python -m edgeshift.simulator`: the same as `edgeshift simulator`."""

from importlib import import_module

import typer

if __name__ == "__main__":
    # Named by text: the simulator itself depends on nothing of the command line.
    typer.run(import_module("edgeshift.cli.simulator").simulator)
