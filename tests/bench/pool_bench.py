#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Pictures a second of a pool of embedded devices, beside those of one: pool_bench.py MODEL [SECONDS]

Pools of 1, 2 and 4 devices take turns, so that what else the machine does meets all of them. A row for each: pictures a
second in its best turn, the ratio to one device, and of each device how many requests it had and the share of the time in
which it had one. PYTHONPATH is build/umd/frameworks/python.
"""

import itertools
import sys
import time

import numpy as np

import nvdla

_TURNS = 4


def rate(net, picture, seconds):
	"""How many pictures, and in how many seconds."""
	begin = time.monotonic()
	frames = itertools.takewhile(lambda _: time.monotonic() - begin < seconds, itertools.repeat(picture))
	done = sum(1 for _ in net.map(frames, depth=16))
	return done, time.monotonic() - begin


def main():
	if len(sys.argv) not in (2, 3):
		sys.exit(__doc__)
	model = nvdla.compile(sys.argv[1])
	seconds = float(sys.argv[2]) if len(sys.argv) == 3 else 2.0
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
