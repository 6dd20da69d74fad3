# SPDX-License-Identifier: MIT
"""Small ONNX models as bytes, for tests that need one and no library to write it."""

import struct

_FLOAT = 1


def _varint(value):
	out = b''
	while value > 0x7f:
		out += bytes([value & 0x7f | 0x80])
		value >>= 7
	return out + bytes([value])


def _number(field, value):
	return _varint(field << 3) + _varint(value)


def _field(field, value):
	value = value.encode() if isinstance(value, str) else value
	return _varint(field << 3 | 2) + _varint(len(value)) + value


def _value(name, shape):
	dimensions = b''.join(_field(1, _number(1, length)) for length in shape)
	return _field(1, name) + _field(2, _field(1, _number(1, _FLOAT) + _field(2, dimensions)))


def weights(name, shape, numbers):
	"""A constant of real numbers."""
	return (b''.join(_number(1, length) for length in shape) + _number(2, _FLOAT) + _field(8, name) +
		_field(9, struct.pack(f'<{len(numbers)}f', *numbers)))


def node(operator, inputs, outputs):
	"""An operator without attributes."""
	return (b''.join(_field(1, name) for name in inputs) + b''.join(_field(2, name) for name in outputs) +
		_field(3, outputs[0]) + _field(4, operator))


def model(nodes, inputs, outputs, constants=()):
	"""@inputs, @outputs: {name: shape}, of real numbers."""
	graph = (b''.join(_field(1, one) for one in nodes) + _field(2, 'test') +
		 b''.join(_field(5, one) for one in constants) +
		 b''.join(_field(11, _value(*one)) for one in inputs.items()) +
		 b''.join(_field(12, _value(*one)) for one in outputs.items()))
	return _number(1, 8) + _field(7, graph) + _field(8, _field(1, '') + _number(2, 13))


def classifier(size=32):
	"""Three scores of a picture: how red, how green and how blue it is on average."""
	return model([node('GlobalAveragePool', ['picture'], ['scores'])],
		     {'picture': (1, 3, size, size)}, {'scores': (1, 3, 1, 1)})


def sum_and_relu():
	"""Two inputs and two outputs: left + right, and the positive part of that."""
	shape = (1, 8, 4, 6)
	return model([node('Add', ['left', 'right'], ['sum']), node('Relu', ['sum'], ['positive'])],
		     {'left': shape, 'right': shape}, {'sum': shape, 'positive': shape})


def convolution(channels, size):
	"""A convolution with 1 x 1 kernels that takes long for its size: FP16, computed exactly."""
	numbers = [((i * 7) % 13 - 6) / 16 for i in range(channels * channels)]
	shape = (1, channels, size, size)
	return model([node('Conv', ['x', 'w'], ['y'])], {'x': shape}, {'y': shape},
		     [weights('w', (channels, channels, 1, 1), numbers)])
