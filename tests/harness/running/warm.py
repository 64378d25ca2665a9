"""What every worker process would do at its start, done once in the process that they are forked from."""

from __future__ import annotations

import gc
import os

from edgeshift.runtime.parent_death import tied_to_parent

# However the process that asks for workers dies, they die with it.
if tie := tied_to_parent(os.getppid()):
    tie()

# What the client of the service loads with its first call alone.
import anyio._backends._asyncio
import httpcore
from temporalio.worker._worker import load_default_build_id

import tests.harness.switches
import tests.kit.faults_worker
from edgeshift.http.tls import tls_context

__all__ = ["anyio", "httpcore", "tests"]

# It reads the code of every module that is loaded, which takes seconds.
load_default_build_id()
# It reads the usual authorities.
tls_context(None)
# Whatever is here stays: no worker has to look through it for what could go.
gc.collect()
gc.freeze()
