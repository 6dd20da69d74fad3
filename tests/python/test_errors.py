# SPDX-License-Identifier: MIT
"""What is wrong is said with the thing, its value and the remedy."""

import os
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
	sample = np.ones((8, 4, 6), np.float32)
	for array in (with_nan, with_nan.astype(np.float16), with_nan.astype(np.float64)):
		with pytest.warns(RuntimeWarning, match="^input 'left' has 3 NaNs$") as said:
			assert np.isnan(pair(array, 0 * sample)[0]).sum() == 3
		assert said[0].filename == __file__
	integers = nvdla.compile(onnx_model.sum_and_relu(), samples=[(sample, -sample)])
	small = nvdla.Pool(['embedded']).load(integers)
	with pytest.warns(RuntimeWarning, match="input 'right' has 3 NaNs: the network gets 0 instead"):
		small(sample, with_nan)
	with warnings.catch_warnings():
		warnings.simplefilter('error', RuntimeWarning)
		with pytest.raises(RuntimeWarning, match='3 NaNs'):
			pair(with_nan)
		pair(np.full((8, 4, 6), np.inf, np.float32), sample)


def test_clipped_numbers_of_an_input_are_said(device):
	sample = np.ones((8, 4, 6), np.float32)
	integers = nvdla.compile(onnx_model.sum_and_relu(), samples=[(sample, -sample)])
	large = sample.copy()
	large[0, 0, :2] = 1e6, -5
	words = "^2 of 192 numbers of input 'left' are outside 0 to 1 and were clipped$"
	for network in (nvdla.load(integers, device), nvdla.Pool(['embedded']).load(integers)):
		with pytest.warns(RuntimeWarning, match=words) as said:
			network(large, -sample)
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


def test_files_of_another_kind(device, tmp_path):
	model = onnx_model.classifier()
	loadable = nvdla.compile(model).to_bytes()
	for load in (lambda file: nvdla.load(file, device), nvdla.Pool(['embedded']).load):
		with pytest.raises(nvdla.InvalidFile, match=r'is an ONNX model; make a loadable of it: .*nvdla.compile\(\)'):
			load(model)
		with pytest.raises(nvdla.InvalidFile, match='is a TensorFlow Lite model; make a loadable of it'):
			load(b'\x1c\0\0\0TFL3' + bytes(40))
		with pytest.raises(nvdla.InvalidFile, match='is not a loadable, as NVDA is not at byte 4: '):
			load(b'import sys\n' * 4)
		with pytest.raises(nvdla.InvalidFile, match='is a loadable that is truncated'):
			load(loadable[:20])
	path = tmp_path / 'net'
	path.write_bytes(loadable)
	for file in (loadable, path):
		for options in ({}, {'samples': [np.zeros((3, 32, 32))]}):
			with pytest.raises(nvdla.InvalidFile, match=r'is a loadable, which is compiled already; .*nvdla.load\(\)'):
				nvdla.compile(file, **options)


def test_paths_that_are_not_utf_8(device, tmp_path):
	path = tmp_path / os.fsdecode(b'd\xffg')
	path.write_bytes(onnx_model.classifier())
	model = nvdla.compile(path)
	assert r'd\xffg' in model.report and repr(model) == r'<nvdla.Model d\xffg>'
	model.save(path)
	for net in (nvdla.load(path, device), nvdla.Pool(['embedded']).load(path)):
		assert net.name == r'd\xffg'
	assert r'd\xffg' in str(nvdla.load(path, device).profile(np.ones((3, 32, 32))))
	missing = os.fsdecode(b'/d\xffg')
	for call in (nvdla.load, nvdla.compile, nvdla.Device,
		     lambda name: nvdla.compile(onnx_model.classifier(), calibration_table=name)):
		with pytest.raises(FileNotFoundError, match=r'/d\\xffg'):
			call(missing)


def test_no_device_is_no_path():
	model = nvdla.compile(onnx_model.classifier())
	for call in (nvdla.Device, lambda device: nvdla.load(model, device),
		     lambda device: nvdla.Pool([device])):
		with pytest.raises(TypeError, match='device: .*embedded.*None'):
			call(None)


def test_inputs_that_are_left_out_are_said(pair):
	right = np.ones((8, 4, 6), np.float32)
	for call in (lambda: pair({'right': right}), lambda: pair.profile({'right': right}),
		     lambda: list(pair.map([{'right': right}])),
		     lambda: nvdla.Pool(['embedded']).load(nvdla.compile(onnx_model.sum_and_relu()))({'right': right})):
		with pytest.warns(RuntimeWarning, match="^input 'left' is zero: no array was given for it$") as said:
			call()
		assert [one.filename for one in said] == [__file__]
	with pytest.warns(RuntimeWarning, match="inputs 'left', 'right' are zero: no arrays were given for them"):
		pair()
	with warnings.catch_warnings():
		warnings.simplefilter('error')
		pair(right, 0 * right)
		with pytest.raises(TypeError):	# an error is all that is said of such a call
			pair(None)


def test_an_operator_that_there_is_not():
	shape = (1, 8, 4, 6)
	with pytest.raises(nvdla.Unsupported, match='NonMaxSuppression'):
		nvdla.compile(onnx_model.model([onnx_model.node('NonMaxSuppression', ['x'], 'y')], {'x': shape},
					       {'y': shape}))
