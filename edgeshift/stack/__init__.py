"""The embedded stack: Temporal, simulator and workers in one process tree, their state in one folder."""

from edgeshift.stack.places import Places, StackError, StackFile, read_stack_file

__all__ = ["Places", "StackError", "StackFile", "read_stack_file"]
