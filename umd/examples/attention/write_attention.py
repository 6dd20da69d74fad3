#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write attention.onnx: a block of a transformer with one head, 16 tokens of 16 numbers and random weights."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / 'digits'))
import onnx_file as onnx	# pylint: disable=wrong-import-position

TOKENS, SIZE, WIDE = 16, 16, 32
GELU = 20	# version of ONNX's operator set: the first one with Gelu


def main():
	random = np.random.default_rng(1)
	nodes, constants = [], []

	def constant(name, array):
		constants.append(onnx.tensor(name, np.asarray(array, np.float32)))
		return name

	def add(kind, output, *inputs, **attributes):
		nodes.append(onnx.node(kind, inputs, output, **attributes))
		return output

	def norm(name, x):
		return add('LayerNormalization', name, x, constant(f'{name} scale', 1 + random.standard_normal(SIZE) / 4),
			   constant(f'{name} shift', random.standard_normal(SIZE) / 4))

	def project(name, x, columns, rows=SIZE):
		weights = random.standard_normal((rows, columns)) / np.sqrt(rows)
		return add('MatMul', name, x, constant(f'{name} weights', weights))

	first = norm('norm1', 'x')
	query, key, value = (project(name, first, SIZE) for name in ('query', 'key', 'value'))
	products = add('MatMul', 'products', query, add('Transpose', 'transposed', key, perm=[0, 2, 1]))
	shares = add('Softmax', 'shares', add('Mul', 'scores', products, constant('root', [SIZE ** -0.5])))
	mixed = project('projected', add('MatMul', 'mixed', shares, value), SIZE)
	attended = add('Add', 'attended', 'x', mixed)
	wide = add('Gelu', 'active', project('wide', norm('norm2', attended), WIDE))
	add('Add', 'y', attended, project('narrow', wide, SIZE, WIDE))
	shape = [1, TOKENS, SIZE]
	model = onnx.model('attention', nodes, constants, {'x': shape}, {'y': shape}, GELU)
	Path('attention.onnx').write_bytes(model)


if __name__ == '__main__':
	main()
