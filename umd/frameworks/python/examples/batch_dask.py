# SPDX-License-Identifier: MIT
"""Run a network on many pictures, on the cores of many machines.

batch_dask.py NETWORK.nvdla PICTURES.npy ANSWERS.npy [SCHEDULER]

Without the address of a Dask scheduler, the program starts one with four workers on this machine. To use other
machines, start a worker for each core, with one thread and with the core's device in the environment:

	NVDLA_DEVICE=/dev/accel/accel0 dask-worker --nthreads 1 tcp://scheduler:8786
"""

import os
import sys

import numpy as np
from distributed import Client, get_worker, progress

import nvdla


def network(file):
	"""Load the network onto this worker's device at the first call, and return it."""
	worker = get_worker()
	if not hasattr(worker, 'nvdla_network'):
		worker.nvdla_network = nvdla.load(file, os.environ.get('NVDLA_DEVICE', 'embedded'))
	return worker.nvdla_network


def answers(pictures, file):
	net = network(file)
	return np.concatenate([net(picture) for picture in pictures])


def infer(client, file, pictures, chunk=16):
	"""Return futures of the answers, one for each chunk of pictures. If a worker dies, Dask gives its chunks to
	other workers."""
	sent = client.scatter(file, broadcast=True)
	chunks = [pictures[first:first + chunk] for first in range(0, len(pictures), chunk)]
	return client.map(answers, chunks, file=sent, pure=False)


if __name__ == '__main__':
	if len(sys.argv) not in (4, 5):
		sys.exit(__doc__)
	with open(sys.argv[1], 'rb') as opened:
		network_file = opened.read()
	with Client(*sys.argv[4:], **({} if sys.argv[4:] else {'n_workers': 4, 'threads_per_worker': 1})) as cluster:
		futures = infer(cluster, network_file, np.load(sys.argv[2]))
		progress(futures)
		np.save(sys.argv[3], np.concatenate(cluster.gather(futures)))
