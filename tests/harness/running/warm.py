"""What every worker process would do at its start, done once in the process that they are forked from."""

from __future__ import annotations

import os

from edgeshift.runtime.parent_death import tied_to_parent

# However the process that asks for workers dies, they die with it.
if tie := tied_to_parent(os.getppid()):
    tie()

from temporalio.worker._worker import load_default_build_id

import tests.faults_worker
import tests.harness.switches

__all__ = ["tests"]

# It reads the code of every module that is loaded, which takes seconds.
load_default_build_id()
