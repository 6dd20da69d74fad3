#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compare the predicted time and memory traffic of networks that NVIDIA's compiler (nvdla_compiler)
compiled with those of the same networks compiled by this project, and with a lower bound of the
time.

The folder of a network has net.prototxt (a Caffe net), in*.npy (its inputs) and loadables (compiled
networks) of NVIDIA's compiler, named CORE_PRECISION_PROFILE.nvdla. Of several profiles, that with
the shortest predicted time is compared. If there is no net.caffemodel, this program makes random
weights, because the weights do not change the times. The lower bound is the longer one of two
times: that of the multiplications if all multipliers are always busy, and that of moving weights,
inputs and outputs once. The limit is the longer one of two times of our operations: with a memory
that takes no time, and that of moving all their bytes. "All ways" is the time of our loadable for a
chip with 512 KiB of on-chip memory, if the compiler may choose Winograd convolutions, too. Cycles
and bytes are those of nvdla-prof --chip, without operations on the CPU.
"""

import argparse
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy

_ROOT = Path(__file__).resolve().parents[2]
_BUILD = Path(os.environ.get('NVDLA_BUILD_DIR', _ROOT / 'build'))
_BYTES_PER_CYCLE = 10  # what nvdla-prof assumes: 10 GB/s at 1 GHz
_NO_SRAM = ('nv_small', 'nv_large')  # what the driver can use of them
_MULTIPLIERS = {('nv_full', 'int8'): 2048, ('nv_full', 'fp16'): 1024, ('nv_small', 'int8'): 64, ('nv_large', 'int8'): 2048}


# Caffe's text format: messages as dicts of lists.

def _message(tokens):
	fields = {}
	for name in tokens:
		if name == '}':
			break
		value = next(tokens)
		if value == ':':
			value = next(tokens)
		fields.setdefault(name, []).append(_message(tokens) if value == '{' else value.strip('"'))
	return fields


def _prototxt(path):
	return _message(iter(re.findall(r'"[^"]*"|[{}:]|[^\s{}:]+', re.sub(r'#.*', '', path.read_text()))))


def _number(fields, name, fallback=None):
	return int(fields[name][0]) if name in fields else fallback


@dataclass
class Network:
	"""What a net needs at least, and shapes for its weights."""
	macs: int = 0
	numbers: int = 0  # of weights, inputs and outputs
	blobs: dict = field(default_factory=dict)  # shapes by layer
	shapes: dict = field(default_factory=dict)  # C, H, W by blob


def _sizes(window, name, fallback):
	"""Of lines and columns: one number for both, or two."""
	both = _number(window, 'kernel_size' if name == 'kernel' else name, fallback)
	return [_number(window, f'{name}_{axis}', both) for axis in 'hw']


def _windows(plane, window, pooling=False):
	kernels, strides, pads = _sizes(window, 'kernel', 1), _sizes(window, 'stride', 1), _sizes(window, 'pad', 0)
	for extent, kernel, stride, pad in zip(plane, kernels, strides, pads):
		steps = (extent + 2 * pad - (kernel - 1) * _number(window, 'dilation', 1) - 1) / stride
		yield (math.ceil(steps) if pooling else math.floor(steps)) + 1


def _convolution(shape, window, transposed):
	channels, *plane = shape
	kernels, kernel = _number(window, 'num_output'), _sizes(window, 'kernel', 1)
	groups = _number(window, 'group', 1)
	if transposed:
		sizes = zip(plane, kernel, _sizes(window, 'stride', 1), _sizes(window, 'pad', 0))
		out = [(extent - 1) * stride + reach - 2 * pad for extent, reach, stride, pad in sizes]
		weights = (channels, kernels // groups, *kernel)
	else:
		out = list(_windows(plane, window))
		weights = (kernels, channels // groups, *kernel)
	return (kernels, *out), weights, math.prod(weights) * math.prod(plane if transposed else out)


def _pooled(shape, window):
	if window.get('global_pooling') == ['true']:
		return (shape[0], 1, 1)
	return (shape[0], *_windows(shape[1:], window, pooling=True))


def _add_layer(net, layer):
	kind, name = layer['type'][0], layer['name'][0]
	inputs = [net.shapes[blob] for blob in layer.get('bottom', [])]
	shape = inputs[0] if inputs else None
	blobs, macs = [], 0
	if kind == 'Input':
		shape = tuple(int(size) for size in layer['input_param'][0]['shape'][0]['dim'][1:])
		net.numbers += math.prod(shape)
	elif kind in ('Convolution', 'Deconvolution', 'InnerProduct'):
		window = layer.get('convolution_param', layer.get('inner_product_param'))[0]
		if kind == 'InnerProduct':
			weights = (_number(window, 'num_output'), math.prod(shape))
			shape, macs = (weights[0], 1, 1), math.prod(weights)
		else:
			shape, weights, macs = _convolution(shape, window, kind == 'Deconvolution')
		blobs = [weights] if window.get('bias_term') == ['false'] else [weights, shape[:1]]
	elif kind == 'Pooling':
		shape = _pooled(shape, layer['pooling_param'][0])
	elif kind == 'Concat':
		shape = (sum(one[0] for one in inputs), *shape[1:])
	elif kind == 'BatchNorm':
		blobs = [shape[:1], shape[:1], (1,)]
	elif kind == 'Scale':
		blobs = [shape[:1]] * (2 if layer.get('scale_param', [{}])[0].get('bias_term') == ['true'] else 1)
	net.macs += macs
	if macs:
		net.numbers += math.prod(blobs[0])
	if blobs:
		net.blobs[name] = blobs
	for top in layer['top']:
		net.shapes[top] = shape


def _network(path):
	net, layers = Network(), _prototxt(path)['layer']
	for layer in layers:
		_add_layer(net, layer)
	read = {blob for layer in layers for blob in layer.get('bottom', [])}
	net.numbers += sum(math.prod(shape) for blob, shape in net.shapes.items() if blob not in read)
	return net


# Caffe's binary format, as far as weights need it.

def _varint(number):
	return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def _part(number, content):
	return _varint(number << 3 | 2) + _varint(len(content)) + content


def _caffemodel(net):
	random = numpy.random.default_rng(1)
	model = b''
	for name, shapes in net.blobs.items():
		blobs = b''
		for shape in shapes:
			bound = 1 / math.sqrt(math.prod(shape[1:])) if len(shape) > 1 else 0.5
			values = random.uniform(-bound, bound, shape) if len(shape) > 1 else random.uniform(0.9, 1.1, shape)
			dims = _part(7, _part(1, b''.join(_varint(size) for size in shape)))
			blobs += _part(7, dims + _part(5, values.astype('<f4').tobytes()))
		model += _part(100, _part(1, name.encode()) + blobs)
	return model


# What the two compilers make of it.

def _tool(name, *words):
	done = subprocess.run([_BUILD / 'umd/tools' / name, *map(str, words)], stdout=subprocess.PIPE,
			      stderr=subprocess.STDOUT, text=True)
	if done.returncode:
		raise RuntimeError(f'{name}: {done.stdout.strip()}')
	return done.stdout


_FAST_MEMORY = ('--dram', '10000GB/s', '--dram-latency', '0ns')


def _predicted(loadable, *chip):
	"""Cycles at 1 GHz, and kB from and to DRAM."""
	said = _tool('nvdla-prof', '--loadable', loadable, '--chip', *chip, '--json', loadable.with_suffix('.json'))
	cycles = json.loads(loadable.with_suffix('.json').read_text())['duration_ns']
	return cycles, float(re.search(r'([\d.]+) kB from and to DRAM', said)[1])


def _theirs(folder, core, precision, scratch):
	best = None
	for loadable in sorted(folder.glob(f'{core}_{precision}_*.nvdla')):
		if 'nhwc' in loadable.stem:
			continue
		copy = scratch / 'theirs.nvdla'
		copy.write_bytes(loadable.read_bytes())
		try:
			found = (*_predicted(copy), loadable.stem.split('_')[-1])
		except RuntimeError as error:
			print(f'{loadable}: {error}', file=sys.stderr)
			continue
		best = min(best or found, found)
	return best


def _ours(model, samples, core, precision, scratch, *options):
	"""The loadable, its cycles, and kB from and to DRAM."""
	loadable = scratch / 'ours.nvdla'
	quantized = ['--precision', 'int8', '--calibrate', *samples[:1]] if precision == 'int8' else ['--precision', 'fp16']
	_tool('nvdla-compile', model, '-o', loadable, '--target', core, *quantized, *options)
	return loadable, *_predicted(loadable)


def _all_ways(core):
	"""The options of nvdla-compile with which it may use all of a chip with this core."""
	return '--strategy', 'auto', *(() if core in _NO_SRAM else ('--sram-size', '512K'))


def _row(folder, core, precision, scratch):
	"""Cells of a line, and the two ratios; None without a loadable of theirs."""
	theirs = _theirs(folder, core, precision, scratch)
	if not theirs:
		return None
	net = _network(folder / 'net.prototxt')
	model = scratch / 'net.prototxt'
	model.write_bytes((folder / 'net.prototxt').read_bytes())
	weights = folder / 'net.caffemodel'
	(scratch / 'net.caffemodel').write_bytes(weights.read_bytes() if weights.exists() else _caffemodel(net))
	given = (model, sorted(folder.glob('in*.npy')), core, precision, scratch)
	loadable, ours, kilobytes = _ours(*given, '--strategy', 'winograd=never')
	limit = max(_predicted(loadable, *_FAST_MEMORY)[0], kilobytes * 1000 / _BYTES_PER_CYCLE)
	_, all_ways, _ = _ours(*given, *_all_ways(core))
	width = 1 if precision == 'int8' else 2
	bound = max(net.macs / _MULTIPLIERS[core, precision], net.numbers * width / _BYTES_PER_CYCLE)
	ratios = ours / theirs[0], all_ways / theirs[0]
	return [folder.name, core, precision, theirs[0], ours, f'{limit:.0f}', f'{bound:.0f}', f'{ratios[0]:.2f}',
		all_ways, f'{ratios[1]:.2f}', f'{theirs[1]:.1f}', f'{kilobytes:.1f}'], ratios


def _mean(ratios):
	return f'{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}'


def _folders(paths):
	for path in paths:
		yield from sorted(prototxt.parent for prototxt in path.rglob('net.prototxt'))


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('folder', metavar='FOLDER', nargs='+', type=Path, help='folder of a network, or folder with such folders')
	given = parser.parse_args()
	ratios = []
	print('| network | core | type | theirs, cycles | ours | limit | bound | ours / theirs '
	      '| all ways | all ways / theirs | theirs, DRAM kB | ours |\n|' + '---|' * 12)
	for folder in _folders(given.folder):
		for core, precision in _MULTIPLIERS:
			with tempfile.TemporaryDirectory() as scratch:
				try:
					row = _row(folder, core, precision, Path(scratch))
				except RuntimeError as error:
					print(f'{folder.name} {core} {precision}: {error}', file=sys.stderr)
					continue
			if row:
				ratios.append(row[1])
				print('| ' + ' | '.join(map(str, row[0])) + ' |', flush=True)
	means = list(map(_mean, zip(*ratios)))
	print(f'| geometric mean of {len(ratios)} | | | | | | | {means[0]} | | {means[1]} | | |')


if __name__ == '__main__':
	main()
