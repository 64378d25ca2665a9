"""The edge: what serves the traffic of the fleet's zones, with Edge Side Code and what replaces it."""

from edgeshift.testbed.simulator.edge.messages import EdgeRequest, EdgeResponse
from edgeshift.testbed.simulator.edge.pipeline import serve

__all__ = ["EdgeRequest", "EdgeResponse", "serve"]
