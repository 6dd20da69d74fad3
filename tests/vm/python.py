# SPDX-License-Identifier: MIT
"""The Python package on the devices of the guest: a network on one of them, a pool on all. Prints TAP.

What is right is what the embedded device answers, which is as exact.
"""

import os
import traceback
from pathlib import Path

import numpy as np

import nvdla

_MODEL = nvdla.compile(Path(os.environ['NVDLA_EXAMPLES']) / 'digits/digits.onnx')
_PICTURES = np.random.default_rng(7).integers(0, 17, (24, 1, 8, 8)).astype(np.float32)


def expected():
	net = nvdla.load(_MODEL, 'embedded')
	return [net(picture) for picture in _PICTURES]


def the_devices_are_found():
	assert nvdla.devices() == ['/dev/accel/accel0', '/dev/accel/accel1'], nvdla.devices()


def a_network_runs():
	net = nvdla.load(_MODEL, os.environ['NVDLA_DEVICE'])
	assert np.array_equal(net(_PICTURES[0]), expected()[0])
	assert net.profile(_PICTURES[0]).slowest(1)[0].duration > 0


def a_pool_answers_in_order():
	pool = nvdla.Pool()
	answers = list(pool.load(_MODEL).map(_PICTURES, depth=8))
	assert np.array_equal(answers, expected())
	use = pool.use()
	assert [one.path for one in use] == nvdla.devices(), use
	assert sum(one.completed for one in use) == len(_PICTURES) and all(one.completed for one in use), use


_TESTS = (the_devices_are_found, a_network_runs, a_pool_answers_in_order)
print(f'1..{len(_TESTS)}', flush=True)
for number, test in enumerate(_TESTS, 1):
	name = test.__name__.replace('_', ' ')
	try:
		test()
		print(f'ok {number} - {name}', flush=True)
	except Exception:  # pylint: disable=broad-except
		print(''.join(f'# {line}\n' for line in traceback.format_exc().splitlines()) + f'not ok {number} - {name}', flush=True)
