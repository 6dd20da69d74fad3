# SPDX-License-Identifier: MIT
"""Small ONNX models as bytes, for tests that need one."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'umd/examples/digits'))
import onnx_file  # pylint: disable=wrong-import-position
from onnx_file import node, tensor  # pylint: disable=wrong-import-position


def model(nodes, inputs, outputs, constants=()):
	"""@inputs, @outputs: {name: shape}, of real numbers."""
	return onnx_file.model('test', nodes, constants, inputs, outputs)


def classifier(size=32):
	"""Three scores of a picture: how red, how green and how blue it is on average."""
	return model([node('GlobalAveragePool', ['picture'], 'scores')],
		     {'picture': (1, 3, size, size)}, {'scores': (1, 3, 1, 1)})


def sum_and_relu():
	"""Two inputs and two outputs: left + right, and the positive part of that."""
	shape = (1, 8, 4, 6)
	return model([node('Add', ['left', 'right'], 'sum'), node('Relu', ['sum'], 'positive')],
		     {'left': shape, 'right': shape}, {'sum': shape, 'positive': shape})


def convolution(channels, size):
	"""A convolution with 1 x 1 kernels that takes long for its size: FP16, computed exactly."""
	numbers = [((i * 7) % 13 - 6) / 16 for i in range(channels * channels)]
	shape = (1, channels, size, size)
	return model([node('Conv', ['x', 'w'], 'y')], {'x': shape}, {'y': shape},
		     [tensor('w', np.array(numbers, np.float32).reshape(channels, channels, 1, 1))])
