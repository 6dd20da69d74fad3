#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Train a network that reads digits, and write it as ONNX file.

The pictures are scikit-learn's digits (Debian: python3-sklearn), 8 x 8 pixels. Every fifth of them
is held out. Beside digits.onnx, the script writes the held-out pictures (held_out.npy), their
digits (held_out_labels.npy) and one of the pictures (seven.pgm).
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import onnx_file

WHITE = 255	# value of a white pixel; scikit-learn's pixels are 0 to 16


def windows(x):
	"""Return each pixel with its eight neighbours (3 x 3), which are zero outside of the picture. N x C x H x W
	becomes N x H x W x (C * 3 * 3)."""
	padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
	seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
	return seen.transpose(0, 2, 3, 1, 4, 5).reshape(*seen.shape[:1], *seen.shape[2:4], -1)


class Convolution:
	"""A 3 x 3 convolution, ReLU and 2 x 2 max pooling."""

	def __init__(self, random, channels, kernels):
		self.weights = random.normal(0, np.sqrt(2 / (9 * channels)), (channels * 9, kernels))
		self.bias = np.zeros(kernels)

	def forward(self, x):
		self.seen = windows(x)
		sums = np.maximum(self.seen @ self.weights + self.bias, 0)
		n, h, w, k = sums.shape
		self.blocks = sums.reshape(n, h // 2, 2, w // 2, 2, k)
		self.largest = self.blocks.max((2, 4))
		return self.largest.transpose(0, 3, 1, 2)

	def backward(self, slope):
		"""Return the gradients of the loss: a list of the gradients for weights and bias, and the array of the
		gradient for the input. slope is the gradient for the output."""
		largest = self.largest[:, :, None, :, None]
		taken = (self.blocks == largest) & (largest > 0)
		sums = taken * slope.transpose(0, 2, 3, 1)[:, :, None, :, None]
		n, h, _, w, _, k = sums.shape
		sums = sums.reshape(n, 2 * h, 2 * w, k)
		flat = sums.reshape(-1, k)
		own = [self.seen.reshape(len(flat), -1).T @ flat, flat.sum(0)]
		spread = (sums @ self.weights.T).reshape(n, 2 * h, 2 * w, -1, 3, 3)
		x = np.zeros((n, spread.shape[3], 2 * h + 2, 2 * w + 2))
		for line in range(3):
			for column in range(3):
				x[:, :, line:line + 2 * h, column:column + 2 * w] += \
					spread[..., line, column].transpose(0, 3, 1, 2)
		return own, x[:, :, 1:-1, 1:-1]

	def kernels(self):
		"""Return the weights in the order of ONNX: kernels x channels x 3 x 3."""
		return self.weights.T.reshape(self.weights.shape[1], -1, 3, 3)


class Network:
	"""Two convolutions and a fully connected layer. Pixels are numbers from 0 to 1; each digit is a class."""

	def __init__(self, random, channels=(8, 16)):
		self.layers = [Convolution(random, 1, channels[0]), Convolution(random, *channels)]
		self.weights = random.normal(0, 0.1, (4 * channels[1], 10))
		self.bias = np.zeros(10)

	def parameters(self):
		"""Return all arrays that are trained, which train() changes in place."""
		return [part for layer in [*self.layers, self] for part in (layer.weights, layer.bias)]

	def forward(self, x):
		"""Return the logarithm of each digit's probability, up to a constant."""
		for layer in self.layers:
			x = layer.forward(x)
		self.flat = x.reshape(len(x), -1)
		self.shape = x.shape
		return self.flat @ self.weights + self.bias

	def slopes(self, x, labels):
		"""Return the gradients of the cross entropy, in the order of parameters()."""
		scores = self.forward(x)
		powers = np.exp(scores - scores.max(1, keepdims=True))
		error = powers / powers.sum(1, keepdims=True)
		error[np.arange(len(labels)), labels] -= 1
		error /= len(labels)
		found = [self.flat.T @ error, error.sum(0)]
		slope = (error @ self.weights.T).reshape(self.shape)
		for layer in reversed(self.layers):
			own, slope = layer.backward(slope)
			found = own + found
		return found


def train(network, random, x, labels, epochs):
	"""Train with the optimizer Adam; the learning rate falls linearly to 0."""
	parameters = network.parameters()
	means = [np.zeros_like(one) for one in parameters]
	squares = [np.zeros_like(one) for one in parameters]
	steps = 0
	for epoch in range(epochs):
		rate = 3e-3 * (1 - epoch / epochs)
		for batch in np.array_split(random.permutation(len(x)), len(x) // 32):
			steps += 1
			found = network.slopes(x[batch], labels[batch])
			for one, mean, square, slope in zip(parameters, means, squares, found):
				mean += 0.1 * (slope - mean)
				square += 0.001 * (slope ** 2 - square)
				one -= rate * (mean / (1 - 0.9 ** steps)
					       / (np.sqrt(square / (1 - 0.999 ** steps)) + 1e-8))


def onnx(network):
	"""Return the ONNX file. Its pixels are 0 to 255, unlike in training, so the kernels of the first layer are
	divided by 255."""
	first, second = network.layers
	arrays = {'first': first.kernels() / WHITE, 'first_bias': first.bias, 'second': second.kernels(),
		  'second_bias': second.bias, 'classes': network.weights, 'classes_bias': network.bias}
	constants = [onnx_file.tensor(name, np.ascontiguousarray(array, np.float32)) for name, array in arrays.items()]
	nodes = []
	x = 'picture'
	for layer in ('first', 'second'):
		nodes += [onnx_file.node('Conv', [x, layer, f'{layer}_bias'], f'{layer}_sums', pads=[1, 1, 1, 1]),
			  onnx_file.node('Relu', [f'{layer}_sums'], f'{layer}_positive'),
			  onnx_file.node('MaxPool', [f'{layer}_positive'], f'{layer}_largest',
					 kernel_shape=[2, 2], strides=[2, 2])]
		x = f'{layer}_largest'
	nodes += [onnx_file.node('Flatten', [x], 'flat'),
		  onnx_file.node('Gemm', ['flat', 'classes', 'classes_bias'], 'scores'),
		  onnx_file.node('Softmax', ['scores'], 'digit')]
	return onnx_file.model('digits', nodes, constants, {'picture': (1, 1, 8, 8)}, {'digit': (1, 10)})


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('--output', metavar='DIR', type=Path, default=Path(__file__).parent,
			    help='folder to write to (default: the folder of this script)')
	parser.add_argument('--epochs', metavar='N', type=int, default=40,
			    help='how often the training goes through all pictures (default: 40)')
	parser.add_argument('--seed', metavar='N', type=int, default=1, help='seed of the random numbers (default: 1)')
	arguments = parser.parse_args()
	try:
		from sklearn.datasets import load_digits	# so --help works without scikit-learn
	except ImportError:
		sys.exit('train.py: scikit-learn, which has the pictures, is missing: install it (Debian: python3-sklearn)')

	digits = load_digits()
	pixels = np.round(digits.images * (WHITE / 16)).astype(np.uint8)
	held_out = np.arange(len(pixels)) % 5 == 0
	x = pixels[:, None] / WHITE
	random = np.random.default_rng(arguments.seed)
	network = Network(random)
	train(network, random, x[~held_out], digits.target[~held_out], arguments.epochs)
	right = network.forward(x[held_out]).argmax(1) == digits.target[held_out]
	print(f'{right.sum()} of {len(right)} digits that are held out are read ({right.mean():.1%})')

	arguments.output.mkdir(parents=True, exist_ok=True)
	(arguments.output / 'digits.onnx').write_bytes(onnx(network))
	np.save(arguments.output / 'held_out.npy', pixels[held_out])
	np.save(arguments.output / 'held_out_labels.npy', digits.target[held_out].astype(np.uint8))
	seven = pixels[held_out][np.flatnonzero(digits.target[held_out] == 7)[0]]
	(arguments.output / 'seven.pgm').write_bytes(b'P5\n8 8\n255\n' + seven.tobytes())


if __name__ == '__main__':
	main()
