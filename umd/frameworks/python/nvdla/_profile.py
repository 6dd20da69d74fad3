# SPDX-License-Identifier: MIT
"""Profiles: the times of a run's operations and layers."""

import dataclasses
import html
from typing import Any, Dict, List, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class Operation:
	"""A row of a profile: one operation of the core or of the CPU, or all operations of one layer of the model.

	Engines of the core that pass data directly from one to the next run at the same time. They count as one
	operation, such as "CONV+SDP".

	name:     "0.3+4": operations 3 and 4 of task 0 in the loadable, which ran as one; "6 operations": a layer of
	          the model whose six operations did not all run as one
	engine:   "CONV+SDP", "PDP", ...; on the CPU "SOFTMAX", ...
	layer:    name of the layer of the model; '' if the loadable does not have it
	action:   mode and parameters: "direct 3x3, pad 1"
	shape:    "64x56x56 -> 64x56x56", channels x height x width
	start:    seconds since the run began; None if the device does not report times
	duration: seconds for which the operation ran; None without times. Several operations may run at the same time
	counters: the core's counters (stalls in cycles, saturated values, NaNs), by the names of
		  struct drm_nvdla_operation_result; empty if the core did not count
	"""

	name: str
	engine: str
	layer: str
	action: str
	shape: str
	start: Optional[float]
	duration: Optional[float]
	counters: Dict[str, Any]

	def __str__(self) -> str:
		return ' '.join(part for part in (self.name, self.engine, self.layer.split(';')[0] or self.action,
						  self.shape) if part)


def _operations(rows: List[Dict[str, Any]]) -> Tuple[Operation, ...]:
	def seconds(nanoseconds):
		return None if nanoseconds is None else nanoseconds / 1e9

	return tuple(Operation(row['op'], row['engine'], row['layer'], row['action'], row['shape'],
			       seconds(row['start_ns']), seconds(row['duration_ns']), row['counters'] or {})
		     for row in rows)


class Profile:
	"""A run of a network. Made by Network.profile().

	name:       name of the network
	duration:   seconds from the start of the first step (a job of the core or a task of the
		    CPU) to the end of the last step
	operations: the operations, in the order in which they were submitted
	layers:     the layers of the model; each is an Operation that sums up all operations of the layer
	"""

	def __init__(self, name: str, duration: float, operations: List[Dict[str, Any]],
		     layers: List[Dict[str, Any]], table: str):
		self._table = table
		self.name = name
		self.duration = duration
		self.operations = _operations(operations)
		self.layers = _operations(layers)

	def __str__(self) -> str:
		"""A table as text: a line for each operation, and one for each engine."""
		return self._table

	def __repr__(self) -> str:
		return f'<nvdla.Profile of {self.name}: {1e3 * self.duration:.3f} ms, {len(self.operations)} operations>'

	def _repr_html_(self) -> str:
		"""A table of the layers as HTML, for Jupyter notebooks."""
		def milliseconds(layer):
			return '' if layer.duration is None else f'{1e3 * layer.duration:.3f}'

		rows = [(layer.layer or layer.name, layer.engine, layer.action, layer.shape, milliseconds(layer))
			for layer in self.layers]
		body = ''.join('<tr>' + ''.join(f'<td>{html.escape(cell)}</td>' for cell in row) + '</tr>' for row in rows)
		return (f'<p>{html.escape(repr(self)[1:-1])}</p><table><tr><th>layer</th><th>engine</th><th>what</th>'
			f'<th>shape</th><th>ms</th></tr>{body}</table>')

	def to_dict(self) -> Dict[str, Any]:
		"""The profile as dictionaries, lists, strings and numbers, for json.dump().
		'operations' and 'layers' are lists of rows, from which pandas makes a table:
		pandas.DataFrame(profile.to_dict()['layers'])."""
		return {'name': self.name, 'duration': self.duration,
			'operations': [dataclasses.asdict(operation) for operation in self.operations],
			'layers': [dataclasses.asdict(layer) for layer in self.layers]}

	def slowest(self, count: int = 10) -> List[Operation]:
		"""The operations that took longest, longest first; those without times are left out."""
		timed = [operation for operation in self.operations if operation.duration is not None]
		return sorted(timed, key=lambda operation: operation.duration or 0.0, reverse=True)[:count]
