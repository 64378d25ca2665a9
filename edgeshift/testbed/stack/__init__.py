"""The embedded stack: Temporal, simulator and workers in one process tree, their state in one folder."""

from edgeshift.testbed.stack.places import Places, StackError, StackFile, read_stack_file
from edgeshift.testbed.stack.running import Stack, stack

__all__ = ["Places", "Stack", "StackError", "StackFile", "read_stack_file", "stack"]
