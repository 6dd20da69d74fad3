# SPDX-License-Identifier: MIT
"""What compile() takes beside the model."""

import json
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

import nvdla
import onnx_model
from onnx_file import node, tensor

_RNG = np.random.default_rng(7)


def two_layers():
	"""A convolution and the sum of its input and its result."""
	kernels = _RNG.uniform(-0.5, 0.5, (8, 8, 3, 3)).astype(np.float32)
	shape = (1, 8, 8, 8)
	convolution = node('Conv', ['x', 'w'], 'c', pads=[1, 1, 1, 1])
	return onnx_model.model([convolution, node('Add', ['c', 'x'], 'y')], {'x': shape}, {'y': shape},
				[tensor('w', kernels)])


def pictures(count):
	return [_RNG.uniform(-1, 1, (1, 8, 8, 8)).astype(np.float32) for _ in range(count)]


def layers(model):
	return json.loads(model.report_as('json'))['layers']


@pytest.mark.parametrize('options, dtype, ratio', [
	({}, np.int8, 25), ({'ranges': 'entropy', 'keep_bias': True}, np.int8, 20),
	({'ranges': 'percentile', 'percentile': 99.9}, np.int8, 20), ({'ranges': 'powers-of-two'}, np.int8, 15),
	({'precision': 'int16'}, np.int16, 60)])
def test_samples_make_integers(device, options, dtype, ratio):
	file, samples = two_layers(), pictures(4)
	net = nvdla.load(nvdla.compile(file, samples=iter(samples), **options), device)
	assert net.inputs[0].dtype == dtype
	real, made = nvdla.load(nvdla.compile(file), device)(samples[0]), net(samples[0])
	assert 10 * np.log10(np.mean(real ** 2) / np.mean((real - made) ** 2)) > ratio


def test_samples_in_one_array():
	file, samples = two_layers(), pictures(3)
	together = nvdla.compile(file, samples=np.concatenate(samples))
	assert together.to_bytes() == nvdla.compile(file, samples=samples).to_bytes()
	assert together.to_bytes() == nvdla.compile(file, samples=np.stack(samples)).to_bytes()


@pytest.mark.parametrize('name', ['samples.npy', b'samples.npy', Path('samples.npy')])
def test_samples_are_no_file(name):
	with pytest.raises(TypeError, match='samples are arrays, not the name of a file: numpy.load'):
		nvdla.compile(two_layers(), samples=name)


@pytest.mark.parametrize('samples, words', [
	([np.zeros((1, 9, 10, 4), np.float32)], ['[1, 9, 10, 4]', '[1, 4, 9, 10]', 'transpose the array']),
	([np.zeros(360, np.float32)], ['[360]', '[1, 4, 9, 10]']),
	([np.zeros((4, 9, 10)), np.zeros((9, 4, 10))], ['sample 1', '[9, 4, 10]']),
	(np.zeros((5, 9, 10, 4)), ['[5, 9, 10, 4]']),
	(np.zeros((0, 4, 9, 10)), ['[0, 4, 9, 10]']),
	([np.zeros((3, 4, 9, 10))], ['sample 0', 'has 3 examples']),
	([(np.zeros((4, 9, 10)), np.zeros((4, 9, 10)))], ['sample 0', 'has 2 arrays', '1 input']),
])
def test_samples_have_the_shape_of_the_input(samples, words, tmp_path):
	shape = (1, 4, 9, 10)
	file = onnx_model.model([node('Relu', ['x'], 'y')], {'x': shape}, {'y': shape})
	path = tmp_path / 'model.onnx'
	path.write_bytes(file)
	for model in (file, path):
		with pytest.raises(nvdla.InvalidArgument) as raised:
			nvdla.compile(model, samples=samples)
		for word in words:
			assert word in str(raised.value)
		assert (str(path) in str(raised.value)) == (model is path)


def test_samples_leave_out_axes_of_length_1():
	file, samples = two_layers(), pictures(3)
	ways = [samples, [one[0] for one in samples], np.stack(samples), np.concatenate(samples)]
	assert len({nvdla.compile(file, samples=way).to_bytes() for way in ways}) == 1
	assert nvdla.compile(file, samples=samples[0][0]).to_bytes() == nvdla.compile(file, samples=samples[:1]).to_bytes()


def test_samples_are_real_numbers():
	for one in (np.zeros((8, 8, 8), np.complex64), np.full((8, 8, 8), 'a'), None):
		with pytest.raises(TypeError, match='sample 0: an array of .* is needed'):
			nvdla.compile(two_layers(), samples=[one])


def test_save_keeps_the_old_file_on_a_full_disk(tmp_path):
	"""A limit for the size of files stands for the full disk; only the error has another name."""
	path, model = tmp_path / 'net.nvdla', nvdla.compile(two_layers())
	path.write_bytes(b'what was there')
	limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
	resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
	try:
		with pytest.raises(OSError, match='File too large'):
			model.save(path)
	finally:
		resource.setrlimit(resource.RLIMIT_FSIZE, limits)
		signal.signal(signal.SIGXFSZ, handler)
	assert path.read_bytes() == b'what was there' and list(tmp_path.iterdir()) == [path]
	model.save(path)
	assert path.read_bytes() == model.to_bytes() and list(tmp_path.iterdir()) == [path]
	with pytest.raises(FileNotFoundError, match='nowhere/net.nvdla'):
		model.save('nowhere/net.nvdla')
	with pytest.raises(OSError, match='Is a directory'):
		model.save(tmp_path)


def test_layers_with_names_that_are_not_utf_8():
	file = onnx_model.sum_and_relu().replace(b'positive', b'posit\xffve')
	for model in (nvdla.compile(file), nvdla.compile(file, samples=[(np.ones((8, 4, 6)), np.ones((8, 4, 6)))])):
		assert r'posit\xffve' in model.report
		for kind in ('text', 'json', 'svg', 'html'):
			assert 'posit' in model.report_as(kind)


def test_fp16_is_for_models_of_real_numbers(models):
	file = two_layers()
	assert nvdla.compile(file, precision='fp16').to_bytes() == nvdla.compile(file).to_bytes()
	with pytest.raises(nvdla.InvalidArgument, match='precision: is a model of integers, and fp16 is for float models'):
		nvdla.compile(models / 'hello_world_int8' / 'model.tflite', precision='fp16')


def test_sizes_of_memory():
	file = two_layers()

	def compiled(size):
		return nvdla.compile(file, fold_sums='never', sram_size=size).to_bytes()
	assert compiled('64K') == compiled('64 KiB') == compiled(1 << 16) == compiled('65536') != compiled(0)
	for size in (-1, '-1', 'much', 0.5, None, '64X', 1 << 64):
		with pytest.raises(nvdla.InvalidArgument, match=f'sram_size: is {size!r}; .*bytes, .*512K'):
			compiled(size)


def test_advice_for_a_core_without_floats():
	with pytest.raises(nvdla.Unsupported, match=r'calibrate the float model \(samples=\)') as raised:
		nvdla.compile(two_layers(), target='nv_small', host='never')
	assert raised.value.why in str(raised.value) and 'calibrate)' not in raised.value.why


def test_scales_make_integers(device, tmp_path):
	file, sample, table = two_layers(), pictures(1)[0], tmp_path / 'table.json'
	real = nvdla.load(nvdla.compile(file, every_tensor=True), device)(sample)
	table.write_text(json.dumps({name: {'scale': float(np.abs(numbers).max()) / 127}
				     for name, numbers in (('x', sample), ('c', real['c']), ('y', real['y']))}))
	for options in ({}, {'samples': [sample]}):
		net = nvdla.load(nvdla.compile(file, calibration_table=table, **options), device)
		assert net.inputs[0].dtype == np.int8
		assert 10 * np.log10(np.mean(real['y'] ** 2) / np.mean((real['y'] - net(sample)) ** 2)) > 25
	with pytest.raises(nvdla.NotFound, match='nowhere.json'):
		nvdla.compile(file, calibration_table='nowhere.json')


def test_pictures_are_given_as_ever(device):
	shape = (1, 3, 12, 10)
	kernels = _RNG.uniform(-0.5, 0.5, (8, 3, 3, 3)).astype(np.float32)
	file = onnx_model.model([node('Conv', ['x', 'w'], 'y')], {'x': shape}, {'y': (1, 8, 10, 8)}, [tensor('w', kernels)])
	samples = [_RNG.uniform(-1, 1, shape).astype(np.float32) for _ in range(3)]

	def compiled(choice):
		return nvdla.load(nvdla.compile(file, samples=samples, strategy=f'pixels={choice}'), device)

	def shared(net):
		run = net.shared()
		run.inputs[0][...] = np.arange(360).reshape(shape) % 256 - 128
		run.run()
		return run.outputs[0].copy()
	plain, pixels = compiled('never'), compiled('auto')
	assert [net.inputs[0].format for net in (plain, pixels)] == ['FEATURE', 'A8B8G8R8']
	assert [net.inputs[0].shape for net in (plain, pixels)] == [shape, shape]
	assert np.array_equal(plain(samples[0]), pixels(samples[0]))
	assert np.array_equal(shared(plain), shared(pixels))


def test_samples_of_several_inputs(device):
	shape = (1, 8, 4, 6)
	sample = [np.full(shape, 0.5), np.linspace(-1, 1, 192).reshape(shape)]
	net = nvdla.load(nvdla.compile(onnx_model.sum_and_relu(), samples=[tuple(sample)]), device)
	assert [one.dtype for one in net.inputs] == [np.int8, np.int8]
	assert np.allclose(net(*sample)['sum'], sample[0] + sample[1], atol=0.02)


def test_every_tensor_is_an_output(device):
	net = nvdla.load(nvdla.compile(two_layers(), every_tensor=True), device)
	assert [one.name for one in net.outputs] == ['y', 'c']


def test_sizes_that_are_left_open(device):
	file = onnx_model.model([node('Relu', ['x'], 'y')], {'x': (1, 8, 'h', 'w')}, {'y': (1, 8, 'h', 'w')})
	for shape in ((1, 8, 4, 6), {'x': (1, 8, 4, 6)}):
		net = nvdla.load(nvdla.compile(file, shape=shape), device)
		assert net.inputs[0].shape == net.outputs[0].shape == (1, 8, 4, 6)
	with pytest.raises(nvdla.Unsupported, match='1x8x[?]x[?]'):
		nvdla.compile(file)


def test_how_it_is_carried_out():
	file = two_layers()

	def operations_of_the_sum(**options):
		return layers(nvdla.compile(file, **options))[1]['operations']
	assert operations_of_the_sum() == operations_of_the_sum(fold_sums='floats') == ['c scale']
	assert operations_of_the_sum(fold_sums='never') == ['y elementwise']
	for option, ways in {'strategy': ('winograd=always', 'winograd=never'), 'sram_size': (0, 1 << 16)}.items():
		one, other = (nvdla.compile(file, fold_sums='never', **{option: way}).to_bytes() for way in ways)
		assert one != other, option
	assert nvdla.compile(file, target='nv_full').to_bytes() == nvdla.compile(file).to_bytes()


@pytest.mark.parametrize('options, words', [
	({'fold_sums': 'some'}, ["fold_sums", "'some'", 'floats, never, always']),
	({'host': 'always'}, ["host", "'always'", 'auto, never']),
	({'samples': [], 'ranges': 'mean'}, ["ranges", "'mean'", 'minmax, percentile, entropy, powers-of-two']),
	({'samples': [], 'precision': 'int4'}, ["precision", "'int4'", 'fp16, int8, int16']),
	({'samples': [np.zeros(5)]}, ['5']),
	({'strategy': 'fast'}, ['fast']),
	({'precision': 'int16'}, ['precision', 'without samples']),
	({'ranges': 'entropy'}, ['ranges', 'without samples']),
	({'keep_bias': True}, ['keep_bias', 'without samples']),
	({'percentile': 99.0}, ['percentile', 'without samples']),
	({'calibration_table': 'nowhere.json', 'keep_bias': True}, ['keep_bias', 'without samples']),
	({'calibration_table': 'nowhere.json', 'samples': [], 'ranges': 'entropy'}, ['ranges', 'without a table']),
	({'calibration_table': 'nowhere.json', 'precision': 'fp16'}, ['calibration_table', 'int8']),
	({'samples': [np.zeros(5)], 'percentile': 99.0}, ['percentile', 'ranges="percentile"']),
	({'samples': [np.zeros(5)], 'precision': 'fp16'}, ['samples', 'precision="int8"']),
	({'target': 'nv_tiny'}, ['nv_tiny']),
])
def test_what_cannot_be_is_named(options, words):
	with pytest.raises(nvdla.InvalidArgument) as raised:
		nvdla.compile(two_layers(), **options)
	for word in words:
		assert word in str(raised.value)
