# SPDX-License-Identifier: MIT
"""Compiling models of TensorFlow Lite, ONNX and Caffe for the device."""

import dataclasses
import json
import operator
import os
import re
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _nvdla
from ._errors import Error, InvalidArgument, make


@dataclasses.dataclass(frozen=True)
class Layer:
	"""Result of compiling an operator of a model.

	operations: names of the operations that compute the operator, in their order; empty if it needs none, or if the
	            operations of another operator compute both
	cpu:        reason why the operator runs on the CPU; empty if it does not
	"""

	name: str
	type: str
	operations: Tuple[str, ...]
	cpu: str


class Model:
	"""A compiled model. Made by nvdla.compile()."""

	def __init__(self, compiled: '_nvdla.CompiledModel', name: str):
		self._compiled = compiled
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
		"""The layers as text, with their operations and the predicted times on a chip."""
		return self.report_as('text')

	def report_as(self, format: str) -> str:
		"""The compiler's report, as of `nvdla-compile --report`; format: "text", "json", "svg" or "html"."""
		return self._compiled.report(self.name, format)

	def to_bytes(self) -> bytes:
		"""Contents of the network's file (a loadable), which include the scales and the axis order of the
		arrays."""
		return self._compiled.loadable.write()

	def save(self, path: Union[str, os.PathLike]) -> None:
		"""Write the network's file. A file of this name is replaced when the new one is complete. Raises nvdla.NotFound
		or nvdla.Io, which are OSErrors."""
		try:
			self._compiled.loadable.write_file(os.fsencode(path))
		except InvalidArgument as error:
			# The path is a folder or may not be written. Python has OSError for that.
			raise make('io', error.what, error.where, error.why, str(error)) from None


def file_name(path: Union[str, bytes, os.PathLike]) -> str:
	"""Return the name of a file without its folder, with \\xNN in place of each byte that is not UTF-8."""
	return os.path.basename(os.fsencode(path)).decode('utf-8', 'backslashreplace')


def _array(numbers: Any, sample: str) -> np.ndarray:
	"""Return the numbers of an array in float32 and in C order. sample: the name of the array, for an error."""
	array = np.asarray(numbers)
	if array.dtype.kind not in 'biuf':
		raise TypeError(f'{sample}: an array of real numbers is needed, not of {array.dtype}')
	return np.asarray(array, np.float32, order='C')


def _examples(samples: Iterable[Union[np.ndarray, Sequence[np.ndarray]]]) -> List[List[np.ndarray]]:
	"""Return the examples in the form that the C++ module takes: for each example, a list of its inputs' arrays.
	An array of all examples is passed as a whole."""
	if isinstance(samples, (str, bytes, os.PathLike)):
		raise TypeError(f'samples are arrays, not the name of a file: numpy.load({os.fspath(samples)!r}) reads one')
	if isinstance(samples, np.ndarray):
		return [[_array(samples, 'samples')]]
	return [[_array(array, f'sample {number}') for array in (one if isinstance(one, (list, tuple)) else [one])]
		for number, one in enumerate(samples)]


def _bytes(size: Union[int, str]) -> int:
	"""Return the value of the option sram_size: a number of bytes, or a text such as "512K", as nvdla-compile takes it."""
	units = 'KMGTPE'
	text = re.fullmatch(rf'\s*(\d+)\s*([{units}]?)(I?B)?\s*', size.upper(), re.ASCII) if isinstance(size, str) else None
	number = (int(text[1]) << 10 * (units.find(text[2]) + 1) if text[2] else int(text[1])) if text else size
	try:
		number = operator.index(number)
	except TypeError:
		number = -1
	if not 0 <= number < 1 << 64:
		why = f'is {size!r}; there is a number of bytes, 0 or more, or a text such as "512K" or "4M"'
		raise make('invalid-argument', 'compile model', 'sram_size', why, f'compile model: sram_size: {why}')
	return number


def compile(model: Union[str, os.PathLike, bytes], *,
	    samples: Union[np.ndarray, Iterable[Union[np.ndarray, Sequence[np.ndarray]]], None] = None,
	    ranges: Optional[str] = None, percentile: Optional[float] = None, precision: Optional[str] = None,
	    keep_bias: Optional[bool] = None, every_tensor: bool = False,
	    strategy: str = '', sram_size: Union[int, str] = 0, fold_sums: str = 'floats', target: str = 'nv_full',
	    shape: Union[Sequence[int], Dict[str, Sequence[int]], None] = None,
	    host: str = 'auto', calibration_table: Union[str, os.PathLike, None] = None) -> Model:
	"""Compile a model: a file of TensorFlow Lite (.tflite), ONNX (.onnx) or Caffe (.prototxt, with the
	.caffemodel beside it), or the bytes of one of the first two.

	Integer models are computed in integers, models of real numbers in FP16, or with samples in integers. Raises
	nvdla.NotFound, nvdla.InvalidFile naming the damage, nvdla.Unsupported naming the operator, its layer and the
	remedy, nvdla.InvalidArgument naming the option with a wrong value.

	samples:      examples of inputs, with which a model of real numbers is compiled to integers. Each example is an
	              array, or a list or tuple with an array for each input, in the model's order of inputs and of axes;
	              axes of length 1 may be left out. All examples of a model with one input may be one array, whose
	              first axis counts them
	ranges:       how ranges are chosen: "minmax" (default), "percentile", "entropy" or "powers-of-two"
	percentile:   for ranges="percentile": the percentile of a tensor's numbers at which its
	              range ends (default 99.99); the range begins at 100 - `percentile`
	precision:    type in which a model of real numbers is computed: "fp16" (default), "int8" (default with samples
	              or a calibration table) or "int16"
	keep_bias:    True: keeps the model's biases. By default, compiling to integers changes
	              biases to make up for the mean error of rounding the weights
	every_tensor: True: tensors between operators are outputs, too, after the model's own outputs, except tensors
	              inside fused operations, such as sums before a ReLU
	strategy:     as in `nvdla-compile --strategy`, for instance "winograd=always,bands=never"
	sram_size:    on-chip memory for tensors between layers, in bytes, or as "512K" or "4M" (1K is 1024 bytes)
	fold_sums:    which additions of two tensors are fused with the convolution before them:
	              "floats" (those of models of real numbers), "never" or "always"
	target:       the core that the network is for, by the name in `info()['variant']` of a device; "nv_full" without it
	shape:        sizes of an input, such as (1, 3, 480, 640); for several inputs a dictionary
	              of sizes by name. In an ONNX model they fill in sizes that are left open. In a
	              TensorFlow Lite model they replace sizes, if TensorFlow Lite is installed
	host:         the library that computes operators which neither the core nor this library's CPU code can
	              compute. "auto": ONNX Runtime for ONNX models and TensorFlow Lite for .tflite, if it is installed;
	              "never": none, so that a model with such operators raises nvdla.Unsupported
	calibration_table: file with the scales of tensors, which are used in place of ranges from samples: JSON of
	                   NVIDIA's compiler for NVDLA or a cache of TensorRT. Samples then only serve to correct
	                   biases and to measure errors
	"""
	options = _nvdla.CompileOptions()
	options.set_strategy(strategy)
	options.set_fold_sums(fold_sums)
	options.set_target(target)
	options.set_host(host)
	for name, sizes in (shape if isinstance(shape, dict) else {} if shape is None else {'': shape}).items():
		options.add_shape(name, [int(size) for size in sizes])
	options.set_every_tensor(every_tensor)
	options.set_sram_size(_bytes(sram_size))
	given = {'ranges': ranges, 'percentile': percentile, 'keep_bias': keep_bias,
		 'precision': None if precision == 'fp16' else precision}
	has_table = calibration_table is not None
	calibrates = samples is not None or has_table
	if has_table:
		del given['precision']
	unused = [name for name, value in given.items() if value is not None] if samples is None else []
	if has_table:
		unused += [name for name in ('ranges', 'percentile') if given[name] is not None]
	if percentile is not None and ranges != 'percentile':
		unused.append('percentile')
	if calibrates and precision == 'fp16':
		unused.append('calibration_table' if has_table else 'samples')
	if unused:
		remedy = ('precision="int8" or "int16"' if unused[0] in ('samples', 'calibration_table') else
			  'samples' if samples is None else
			  'samples alone, without a table' if has_table else 'ranges="percentile"')
		raise make('invalid-argument', 'compile model', unused[0], f'has no effect without {remedy}',
			   f'compile model: {unused[0]}: has no effect without {remedy}')
	if calibrates:
		options.calibrate(_examples(() if samples is None else samples), isinstance(samples, np.ndarray),
				  ranges or 'minmax', 99.99 if percentile is None else percentile, precision or 'int8',
				  bool(keep_bias), os.fsencode(calibration_table) if has_table else '')
	if precision == 'fp16':
		options.set_half()
	try:
		if isinstance(model, (bytes, bytearray, memoryview)):
			return Model(_nvdla.compile_bytes(model, options), f'{len(model)} bytes')
		return Model(_nvdla.compile_file(os.fsencode(model), options), file_name(model))
	except Error as error:
		if '(--calibrate)' not in error.why:
			raise
		# The message advises an option of nvdla-compile: name the argument of this function instead.
		why, message = (text.replace('(--calibrate)', '(samples=)') for text in (error.why, str(error)))
		raise make(error.code, error.what, error.where, why, message) from None
