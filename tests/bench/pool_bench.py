#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measure how many pictures a second a model processes on pools of 1, 2 and 4 embedded devices
(NVDLAs in software).

A pool distributes the pictures over its devices. The pools are measured in turns, so other work of
the machine slows all of them. A row for each pool has the pictures a second in its best turn, the
ratio to those of one device, and for each device the number of its pictures and, in brackets, the
share of the time in which it was busy.

PYTHONPATH must name the project's Python package: build/umd/frameworks/python.
"""

import argparse
import itertools
import time
from pathlib import Path

import numpy as np

_TURNS = 4


def rate(net, picture, seconds):
	"""How many pictures, and in how many seconds."""
	begin = time.monotonic()
	frames = itertools.takewhile(lambda _: time.monotonic() - begin < seconds, itertools.repeat(picture))
	done = sum(1 for _ in net.map(frames, depth=16))
	return done, time.monotonic() - begin


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('model', metavar='MODEL', type=Path, help='a .tflite or .onnx file with one input')
	parser.add_argument('seconds', metavar='SECONDS', type=float, nargs='?', default=2.0,
			    help='length of a turn of one pool (default: 2)')
	arguments = parser.parse_args()
	# Not at the top of the file: --help works without the package.
	import nvdla  # pylint: disable=import-outside-toplevel

	seconds = arguments.seconds
	model = nvdla.compile(str(arguments.model))
	pools = {count: nvdla.Pool(['embedded'] * count) for count in (1, 2, 4)}
	nets = {count: pool.load(model) for count, pool in pools.items()}
	picture = np.zeros(nets[1].inputs[0].shape, nets[1].inputs[0].dtype)
	best, passed = dict.fromkeys(nets, 0.0), dict.fromkeys(nets, 0.0)
	for _ in range(_TURNS):
		for count, net in nets.items():
			done, elapsed = rate(net, picture, seconds)
			best[count] = max(best[count], done / elapsed)
			passed[count] += elapsed
	for count, pool in pools.items():
		use = ', '.join(f'{one.completed} ({one.busy / passed[count]:.0%})' for one in pool.use())
		print(f'{count} devices: {best[count]:8.1f} pictures/s, {best[count] / best[1]:.2f} of one; {use}')


if __name__ == '__main__':
	main()
