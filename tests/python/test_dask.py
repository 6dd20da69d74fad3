# SPDX-License-Identifier: MIT
"""Batches over Dask: a scheduler and four workers, one of which dies on the way."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nvdla
import onnx_model

distributed = pytest.importorskip('distributed', reason='Dask is missing: install python3-distributed')

_EXAMPLES = Path(os.environ['NVDLA_SOURCE_ROOT']) / 'umd/frameworks/python/examples'


@pytest.fixture
def batch(monkeypatch):
	"""The example, which workers find as well; a network's file, pictures, and what is to come out."""
	monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(_EXAMPLES), os.environ.get('PYTHONPATH', '')]))
	monkeypatch.syspath_prepend(_EXAMPLES)
	monkeypatch.delenv('NVDLA_DEVICE', raising=False)
	import batch_dask

	file = nvdla.compile(onnx_model.classifier()).to_bytes()
	pictures = np.random.default_rng(3).integers(0, 8, (96, 3, 32, 32)).astype(np.float32)
	net = nvdla.load(file)
	return batch_dask, file, pictures, np.concatenate([net(picture) for picture in pictures])


def test_a_worker_that_dies_loses_nothing(batch):
	batch_dask, file, pictures, expected = batch
	with distributed.Client(n_workers=4, threads_per_worker=1, dashboard_address=None) as client:
		workers = client.run(os.getpid)
		assert len(workers) == 4
		futures = batch_dask.infer(client, file, pictures, chunk=4)
		first = next(iter(distributed.as_completed(futures)))
		victim = client.who_has([first])[first.key][0]
		os.kill(workers[victim], signal.SIGKILL)
		assert np.array_equal(np.concatenate(client.gather(futures)), expected)
		assert workers[victim] not in client.run(os.getpid).values()


def test_the_program(batch, tmp_path):
	_, file, pictures, expected = batch
	(tmp_path / 'net.nvdla').write_bytes(file)
	np.save(tmp_path / 'pictures.npy', pictures)
	subprocess.run([sys.executable, _EXAMPLES / 'batch_dask.py', 'net.nvdla', 'pictures.npy', 'answers.npy'],
		       cwd=tmp_path, check=True, capture_output=True)
	assert np.array_equal(np.load(tmp_path / 'answers.npy'), expected)
