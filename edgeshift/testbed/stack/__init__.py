"""The embedded stack: Temporal, simulator and workers in one process tree, their state in one folder."""

from edgeshift.testbed.stack.paths import StackError, StackFile, StackPaths
from edgeshift.testbed.stack.running import Stack, stack

__all__ = ["Stack", "StackError", "StackFile", "StackPaths", "stack"]
