# SPDX-License-Identifier: MIT
"""Writes ONNX files: the few messages that a small network needs, in protobuf's wire format.

The field numbers come from onnx.proto, which the ONNX project publishes.
"""

import struct

_FLOAT, _INT64 = 1, 7	# values of TensorProto.DataType in onnx.proto
_INT, _INTS = 2, 7	# values of AttributeProto.AttributeType


def _varint(number):
	data = b''
	while number > 0x7f:
		data += bytes([number & 0x7f | 0x80])
		number >>= 7
	return data + bytes([number])


def _number(field, number):
	return _varint(field << 3) + _varint(number)


def _bytes(field, data):
	if isinstance(data, str):
		data = data.encode()
	return _varint(field << 3 | 2) + _varint(len(data)) + data


def tensor(name, array):
	"""Return the TensorProto of a constant, which is a numpy array of float32 or int64."""
	kind = {'float32': _FLOAT, 'int64': _INT64}[str(array.dtype)]
	sizes = b''.join(_number(1, size) for size in array.shape)
	return sizes + _number(2, kind) + _bytes(8, name) + _bytes(9, array.tobytes())


def node(kind, inputs, output, **attributes):
	"""Return the NodeProto of an operator; attributes are whole numbers or lists of them."""
	data = b''.join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(3, output) + _bytes(4, kind)
	for name, value in attributes.items():
		if isinstance(value, int):
			data += _bytes(5, _bytes(1, name) + _number(3, value) + _number(20, _INT))
		else:
			numbers = b''.join(_number(8, number) for number in value)
			data += _bytes(5, _bytes(1, name) + numbers + _number(20, _INTS))
	return data


def _value(name, shape):
	# An axis whose size is left open has a name (a string) instead of a size.
	sizes = b''.join(_bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size))
			 for size in shape)
	return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, _FLOAT) + _bytes(2, sizes)))


def model(name, nodes, constants, inputs, outputs, operators=13):
	"""Return the bytes of a file. inputs and outputs map names of float32 tensors to shapes;
	operators is the version of the operator set."""
	graph = b''.join(_bytes(1, one) for one in nodes) + _bytes(2, name)
	graph += b''.join(_bytes(5, one) for one in constants)
	graph += b''.join(_bytes(11, _value(*one)) for one in inputs.items())
	graph += b''.join(_bytes(12, _value(*one)) for one in outputs.items())
	version = struct.pack('<BB', 1 << 3, 8)	# ir_version
	return version + _bytes(2, 'nvdla digits example') + _bytes(7, graph) + _bytes(8, _number(2, operators))
