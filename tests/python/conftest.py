# SPDX-License-Identifier: MIT
"""What the tests of the Python package share."""

import os
from pathlib import Path

import pytest

import nvdla
import onnx_model


@pytest.fixture(scope='session')
def device():
	return nvdla.Device(os.environ.get('NVDLA_DEVICE', 'embedded'))


@pytest.fixture(scope='session')
def pair(device):
	"""A network with two inputs and two outputs."""
	return nvdla.load(nvdla.compile(onnx_model.sum_and_relu()), device)


@pytest.fixture(scope='session')
def models():
	"""The folder of reference models."""
	shared = Path(os.environ.get('NVDLA_REFERENCE_DATA', Path(__file__).parents[3] / 'shared')) / 'models'
	if not shared.is_dir():
		pytest.skip('no reference data: set NVDLA_REFERENCE_DATA')
	return shared
