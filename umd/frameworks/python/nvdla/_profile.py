# SPDX-License-Identifier: MIT
"""Where the time of a run went."""

import dataclasses
from typing import Any, Dict, List, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class Operation:
	"""An operation of a run.

	engine:   "CONV", "SDP", ...; of the CPU "SOFTMAX", ...
	action:   what it does: "direct 3x3, pad 1"
	shape:    "64x56x56 -> 64x56x56", channels x height x width
	start:    seconds since the run began; None if the device told no times
	duration: seconds; operations of different engines overlap
	counters: what the core counted (stalls in cycles, saturated values, NaNs), by the names of
		  struct drm_nvdla_operation_result; empty if it did not
	"""

	engine: str
	action: str
	shape: str
	start: Optional[float]
	duration: Optional[float]
	counters: Dict[str, Any]

	def __str__(self) -> str:
		return ' '.join(part for part in (self.engine, self.action, self.shape) if part)


class Profile:
	"""A run of a network, operation by operation. Made by Network.profile().

	name:       of the network
	duration:   seconds from the first step to the last's end
	operations: in the order they were submitted
	"""

	def __init__(self, name: str, duration: float, operations: List[Dict[str, Any]], table: str):
		def seconds(nanoseconds):
			return None if nanoseconds is None else nanoseconds / 1e9

		self._table = table
		self.name = name
		self.duration = duration
		self.operations: Tuple[Operation, ...] = tuple(
			Operation(one['engine'], one['action'], one['shape'], seconds(one['start_ns']),
				  seconds(one['duration_ns']), one.get('counters', {})) for one in operations)

	def __str__(self) -> str:
		"""A line for each operation, and one for each engine."""
		return self._table

	def slowest(self, count: int = 10) -> List[Operation]:
		"""The operations that took longest, longest first; those without times are left out."""
		timed = [operation for operation in self.operations if operation.duration is not None]
		return sorted(timed, key=lambda operation: operation.duration or 0.0, reverse=True)[:count]
