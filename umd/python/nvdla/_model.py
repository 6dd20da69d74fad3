# SPDX-License-Identifier: MIT
"""Models of other tools, compiled."""

import dataclasses
import json
import os
from typing import Tuple, Union

from . import _nvdla


@dataclasses.dataclass(frozen=True)
class Layer:
	"""What became of an operator of a model.

	operations: of the network, in their order; none if nothing is left to do
	cpu:        why it runs on the CPU; empty: it does not
	"""

	name: str
	type: str
	operations: Tuple[str, ...]
	cpu: str


class Model:
	"""A compiled model. Made by nvdla.compile()."""

	def __init__(self, compiled: '_nvdla.CompiledModel', name: str):
		self._compiled = compiled
		self._nhwc = (compiled.input_nhwc, compiled.output_nhwc)
		self.name = name

	def __repr__(self) -> str:
		return f'<nvdla.Model {self.name}>'

	@property
	def layers(self) -> Tuple[Layer, ...]:
		"""The operators, in the order of the model."""
		return tuple(Layer(layer['name'], layer['type'], tuple(layer['operations']), layer['cpu'] or '')
			     for layer in json.loads(self.report_as('json'))['layers'])

	@property
	def report(self) -> str:
		"""The layers as text: their hardware layers, and what those take on a chip."""
		return self.report_as('text')

	def report_as(self, format: str) -> str:
		"""What became of the model, as `nvdla-compile --report` says it: "text", "json", "svg" or "html"."""
		return self._compiled.report(self.name, format)

	def to_bytes(self) -> bytes:
		"""The network's file. It has the scales, not the order of the arrays (see `layout` of nvdla.load())."""
		return self._compiled.loadable.write()

	def save(self, path: Union[str, os.PathLike]) -> None:
		"""Write the network's file. Raises OSError."""
		with open(path, 'wb') as file:
			file.write(self.to_bytes())


def compile(model: Union[str, os.PathLike, bytes]) -> Model:
	"""Compile a model: a TensorFlow Lite file (.tflite) or an ONNX file (.onnx), or the bytes of one.

	Integer models are computed in integers, models of real numbers in FP16. Raises nvdla.NotFound,
	nvdla.InvalidFile naming what is damaged, nvdla.Unsupported naming the operator, its layer and the remedy.
	"""
	if isinstance(model, (bytes, bytearray, memoryview)):
		return Model(_nvdla.compile_bytes(model), f'{len(model)} bytes')
	path = os.fsdecode(model)
	return Model(_nvdla.compile_file(path), os.path.basename(path))
