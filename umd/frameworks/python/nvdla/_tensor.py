# SPDX-License-Identifier: MIT
"""Descriptions of inputs and outputs, and conversion to numpy arrays."""

import dataclasses
from typing import Any, Dict, Optional, Tuple

import numpy as np

LAYOUTS = ('nchw', 'nhwc')


@dataclasses.dataclass(frozen=True)
class Tensor:
	"""An input or output of a network.

	name:        name in the network's file
	shape:       shape of the arrays. By default it is the model's own. With a layout given to
		     load(), or if the network's file lacks the model's shape, it is batch,
		     channels, height and width in the order of `layout`. None is the length of an
		     open axis, which differs from run to run. Only outputs have open axes; the
		     shape of such an output is always the model's own
	layout:      position of the channels among the axes: "nchw" (after the batch) or "nhwc" (last)
	dtype:       type of the elements: int8, uint8, int16, uint16 or float16; also int32, int64,
		     bool or float32 for tensors that only ONNX Runtime or TensorFlow Lite uses
	scales:      scale of the quantization, real = scale * (element - zero point): one for all channels, or one for
	             each channel; empty if the elements are the real numbers themselves
	zero_points: for each scale, the element that stands for the real number 0
	format:      memory layout on the device
	nbytes:      size on the device in bytes, with gaps; each open axis counts as 1
	"""

	name: str
	shape: Tuple[Optional[int], ...]
	layout: str
	dtype: np.dtype
	scales: Tuple[float, ...]
	zero_points: Tuple[int, ...]
	format: str
	nbytes: int
	_cube: Tuple[int, int, int, int] = dataclasses.field(repr=False, default=(1, 1, 1, 1))
	_strides: Optional[Tuple[int, int, int, int]] = dataclasses.field(repr=False, default=None)

	@property
	def nhwc(self) -> bool:
		return self.layout == 'nhwc'

	@property
	def is_open(self) -> bool:
		return None in self.shape


def ordered(nchw: Tuple[int, ...], nhwc: bool) -> Tuple[int, ...]:
	"""Return the values for n, c, h and w in the order n, h, w, c (if `nhwc`) or n, c, h, w."""
	n, c, h, w = nchw
	return (n, h, w, c) if nhwc else (n, c, h, w)


def describe(info: Dict[str, Any], layout: Optional[str]) -> Tensor:
	"""Make a Tensor from a dictionary of the C++ module (tensorInfo()). layout: order of the arrays' axes, "nchw"
	or "nhwc"; None for the model's own order."""
	strides = info['strides']
	if info['signature'] is not None and None in info['signature']:
		layout = None	# an array with open axes has the model's axes, not n, c, h and w
	nhwc = info['nhwc'] if layout is None else layout == 'nhwc'
	cube = ordered(info['shape'], nhwc)
	own = info['signature'] if layout is None else None
	return Tensor(name=info['name'], shape=cube if own is None else own, layout=LAYOUTS[nhwc],
		      dtype=np.dtype(info['dtype']), scales=info['scales'], zero_points=info['zero_points'],
		      format=info['format'], nbytes=info['bytes'], _cube=cube,
		      _strides=None if strides is None else ordered(strides, nhwc))


def fit(tensor: Tensor, value: Any) -> Tuple[np.ndarray, bool]:
	"""Return `value` as an array for the tensor, in C order, and whether it holds real numbers, which have to be
	quantized.

	An array is not copied if its memory is in C order and its elements need no conversion.
	Raises TypeError for elements of a wrong type, ValueError for a wrong shape.
	"""
	array = np.asarray(value)
	if array.dtype == tensor.dtype:
		real = False
	elif array.dtype.kind == 'f':
		array, real = array.astype(np.float32, copy=False), True
	else:
		raise TypeError(_wrong_dtype(tensor, array))
	if _squeezed(array.shape) != _squeezed(tensor.shape):
		raise ValueError(_wrong_shape(tensor, array))
	return np.ascontiguousarray(array), real


def view(tensor: Tensor, memory: Any) -> np.ndarray:
	"""Return an array of the tensor's elements in `memory`, which the device accesses directly.

	The shape on the device has four axes. If the tensor's own shape differs from this only in axes of length 1, the
	array has the tensor's shape, otherwise the shape on the device.
	"""
	cube = np.ndarray(tensor._cube, tensor.dtype, buffer=memoryview(memory), strides=tensor._strides)
	if _squeezed(tensor.shape) != _squeezed(tensor._cube):
		return cube
	long = [step for length, step in zip(tensor._cube, cube.strides) if length != 1]
	steps = tuple(0 if length == 1 else long.pop(0) for length in tensor.shape)
	return np.ndarray(tensor.shape, tensor.dtype, buffer=memoryview(memory), strides=steps)


def _squeezed(shape):
	"""Return the lengths that are not 1, for comparisons: (1, 1, 28, 28) and (28, 28) both give [28, 28]."""
	return [length for length in shape if length != 1]


def _wrong_dtype(tensor, array):
	text = (f'input "{tensor.name}" has elements of {tensor.dtype}, the array is {array.dtype}: give real numbers as '
		f'float32 (x.astype(np.float32)), or the elements themselves as {tensor.dtype}')
	if array.dtype == np.uint8 and tensor.dtype == np.int8:
		text += '; a model of uint8 becomes one of int8, less by 128: (x ^ 0x80).view(np.int8)'
	return text


def _wrong_shape(tensor, array):
	text = f'input "{tensor.name}" has the shape {tensor.shape} ({tensor.layout}), the array is {array.shape}'
	other = LAYOUTS[not tensor.nhwc]
	first, *rest = tensor._cube
	turned = (first, *rest[2:], *rest[:2]) if tensor.nhwc else (first, *rest[1:], rest[0])
	if _squeezed(array.shape) == _squeezed(turned):
		return f'{text}: load the network with layout="{other}", or transpose the array'
	return f'{text}: dimensions of 1 may be left out, the others have to be equal'
