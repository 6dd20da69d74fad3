# SPDX-License-Identifier: MIT
"""What is wrong is said with the thing, its value and the remedy."""

import warnings

import numpy as np
import pytest

import nvdla
import onnx_model


@pytest.mark.parametrize('value, kind, words', [
	(np.zeros((8, 4, 6), np.int32), TypeError, r'"left".*float16.*int32.*astype\(np.float32\)'),
	(np.zeros((8, 4, 5), np.float32), ValueError, r'"left".*\(1, 8, 4, 6\).*\(8, 4, 5\)'),
	(np.zeros((4, 6, 8), np.float32), ValueError, r'layout="nhwc"'),
	('text', TypeError, r'"left".*float16'),
	(None, TypeError, r'"left".*object'),
])
def test_wrong_arrays(pair, value, kind, words):
	with pytest.raises(kind, match=words):
		pair(value)


def test_wrong_names_and_numbers_of_inputs(pair):
	with pytest.raises(KeyError, match='no inputs are named "middle": there are left, right'):
		pair({'middle': np.zeros((8, 4, 6), np.float32)})
	with pytest.raises(TypeError, match='3 inputs given.*left, right'):
		pair(1, 2, 3)
	with pytest.raises(KeyError, match='sum, positive'):
		pair()['product']


def test_nans_of_an_input_are_said(pair):
	with_nan = np.zeros((8, 4, 6), np.float32)
	with_nan[0, 0, :3] = np.nan
	for array in (with_nan, with_nan.astype(np.float16), with_nan.astype(np.float64)):
		with pytest.warns(RuntimeWarning, match="^input 'left' has 3 NaNs$") as said:
			assert np.isnan(pair(array)[0]).sum() == 3
		assert said[0].filename == __file__
	sample = np.ones((8, 4, 6), np.float32)
	integers = nvdla.compile(onnx_model.sum_and_relu(), samples=[(sample, -sample)])
	small = nvdla.Pool(['embedded']).load(integers)
	with pytest.warns(RuntimeWarning, match="input 'right' has 3 NaNs: the network gets 0 instead"):
		small({'right': with_nan})
	with warnings.catch_warnings():
		warnings.simplefilter('error', RuntimeWarning)
		with pytest.raises(RuntimeWarning, match='3 NaNs'):
			pair(with_nan)
		pair(np.full((8, 4, 6), np.inf, np.float32))


def test_clipped_numbers_of_an_input_are_said(device):
	sample = np.ones((8, 4, 6), np.float32)
	integers = nvdla.compile(onnx_model.sum_and_relu(), samples=[(sample, -sample)])
	large = sample.copy()
	large[0, 0, :2] = 1e6, -5
	words = "^2 of 192 numbers of input 'left' are outside 0 to 1 and were clipped$"
	for network in (nvdla.load(integers, device), nvdla.Pool(['embedded']).load(integers)):
		with pytest.warns(RuntimeWarning, match=words) as said:
			network({'left': large})
		assert [one.filename for one in said] == [__file__]
		elements = np.full((8, 4, 6), 127, network.inputs[0].dtype)
		with warnings.catch_warnings():
			warnings.simplefilter('error', RuntimeWarning)
			network(sample, -sample)
			network(elements, elements)


@pytest.mark.parametrize('options, words', [
	({'timeout': 0}, 'timeout 0: seconds'),
	({'timeout': float('nan')}, 'timeout nan'),
	({'priority': 'urgent'}, '"urgent": it is "low"'),
])
def test_wrong_options_of_a_run(pair, options, words):
	for run in (pair, pair.shared().run):
		with pytest.raises(ValueError, match=words):
			run(**options)


@pytest.mark.parametrize('options, words', [
	({'layout': 'chw'}, '"chw": it is "nchw" or "nhwc"'),
	({'slots': 0}, 'slots 0'),
])
def test_wrong_options_of_load(options, words):
	with pytest.raises(ValueError, match=words):
		nvdla.load(onnx_model.classifier(), **options)


def test_missing_files_and_devices():
	for function in (nvdla.load, nvdla.compile):
		with pytest.raises(FileNotFoundError, match='nothing-there') as caught:
			function('nothing-there')
		assert isinstance(caught.value, nvdla.NotFound) and caught.value.code == 'not-found'
	with pytest.raises(nvdla.NoDevice, match=r'/dev/accel/accel99.*nvdla.devices\(\)'):
		nvdla.Device('/dev/accel/accel99')
	with pytest.raises(nvdla.InvalidArgument, match='fp16=quick'):
		nvdla.Device('embedded:fp16=quick')


def test_damaged_files(device):
	with pytest.raises(nvdla.InvalidFile):
		nvdla.load(b'no network', device)
	with pytest.raises(nvdla.InvalidFile):
		nvdla.compile(onnx_model.classifier()[:40])
	with pytest.raises(ValueError):
		nvdla.compile(b'')


def test_an_operator_that_there_is_not():
	shape = (1, 8, 4, 6)
	with pytest.raises(nvdla.Unsupported, match='NonMaxSuppression'):
		nvdla.compile(onnx_model.model([onnx_model.node('NonMaxSuppression', ['x'], 'y')], {'x': shape},
					       {'y': shape}))
