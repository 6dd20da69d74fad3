# SPDX-License-Identifier: MIT
"""Documentation/python.md: its examples run, one after the other, as they stand there."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import onnx_model

_PAGE = Path(os.environ['NVDLA_SOURCE_ROOT']) / 'Documentation/python.md'


def examples():
	return re.findall(r'^```python\n(.*?)^```', _PAGE.read_text(), re.MULTILINE | re.DOTALL)


def run(names, *examples_to_run):
	for example in examples_to_run:
		exec(compile(example, str(_PAGE), 'exec'), names)
	return names


@pytest.fixture
def folder(tmp_path, monkeypatch):
	"""What the examples find in the folder they run in: a model, and a picture that is mostly green."""
	image = pytest.importorskip('PIL.Image', reason='PIL is missing: install python3-pil')
	pixels = np.random.default_rng(2).integers(0, 100, (48, 64, 3)).astype(np.uint8)
	pixels[:, :, 1] += 120
	image.fromarray(pixels).save(tmp_path / 'picture.png')
	(tmp_path / 'model.onnx').write_bytes(onnx_model.classifier())
	monkeypatch.chdir(tmp_path)
	return tmp_path


def test_classify(folder):
	assert run({}, examples()[0])['best'] == 1


def test_options(folder):
	assert run({}, *examples()[:2])['smaller'].inputs[0].dtype == np.int8


def test_frames(folder):
	names = run({}, examples()[0], examples()[2])
	assert names['classes'] == [1, 0, 2, 1, 0, 2, 1, 0, 2, 1]


class _Counted:
	"""A network that counts how many of its runs are in flight at the same time."""

	def __init__(self, net):
		self._net = net
		self._now = 0
		self.most = 0

	async def run_async(self, frame):
		self._now += 1
		self.most = max(self.most, self._now)
		try:
			return await self._net.run_async(frame)
		finally:
			self._now -= 1


def test_frames_in_flight(folder):
	names = run({}, examples()[0])
	names['net'] = _Counted(names['net'])
	run(names, examples()[2])
	assert names['net'].most == 4


def test_slowest(folder):
	matplotlib = pytest.importorskip('matplotlib', reason='matplotlib is missing: install python3-matplotlib')
	matplotlib.use('Agg')
	run({}, examples()[0], examples()[3])
	assert (folder / 'slowest.png').read_bytes().startswith(b'\x89PNG')


def test_every_other_example(folder):
	run(run({}, examples()[0]), *examples()[4:])
