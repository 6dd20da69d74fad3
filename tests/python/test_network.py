# SPDX-License-Identifier: MIT
"""Networks that run from Python: inputs, outputs, several at once, interruptions."""

import asyncio
import gc
import json
import os
import resource
import signal
import sys
import threading

import numpy as np
import pytest

import nvdla
import onnx_model

_RNG = np.random.default_rng(1)


def numbers(shape):
	"""Real numbers that FP16 has exactly."""
	return _RNG.integers(-64, 64, shape).astype(np.float32) / 8


def reference(models, name):
	"""A reference model with its first input and what is to come out, both as elements."""
	folder = models / name
	return nvdla.compile(folder / 'model.tflite'), np.load(folder / 'input_0.npy'), np.load(folder / 'ref_0_0.npy')


def test_inputs_by_position_and_name(pair):
	left, right = numbers((1, 8, 4, 6)), numbers((8, 4, 6))
	total = left + right
	for outputs in (pair(left, right), pair({'right': right, 'left': left}), pair(left.astype(np.float64), right),
			pair(left.astype(np.float16), right)):
		assert np.array_equal(outputs['sum'], total)
		assert np.array_equal(outputs[1], np.maximum(total, 0))
		assert outputs[0].dtype == np.float32 and outputs.names == ('sum', 'positive')


def test_an_input_left_out_is_zero(pair):
	left, right = numbers((8, 4, 6)), numbers((8, 4, 6))
	pair(left, right)
	with pytest.warns(RuntimeWarning, match="input 'left' is zero"):
		assert np.array_equal(pair({'right': right})[0][0], right)


def test_any_layout_of_the_array(pair):
	left, right = numbers((6, 4, 8)).transpose(2, 1, 0), numbers((8, 4, 12))[:, :, ::2]
	assert np.array_equal(pair(left, right)[0][0], left + right)


def test_channels_last(device):
	net = nvdla.load(nvdla.compile(onnx_model.sum_and_relu()), device, layout='nhwc')
	left, right = numbers((4, 6, 8)), numbers((4, 6, 8))
	assert net.inputs[0].shape == net.outputs[0].shape == (1, 4, 6, 8)
	assert np.array_equal(net(left, right)[0][0], left + right)


def test_raw_elements_are_the_devices(pair):
	left = numbers((8, 4, 6)).astype(np.float16)
	outputs = pair(left, raw=True)
	assert outputs[0].dtype == np.float16 and np.array_equal(outputs[0][0], left)


def test_an_integer_model(models, device):
	model, elements, expected = reference(models, 'hello_world_int8')
	net = nvdla.load(model, device)
	tensor, output = net.inputs[0], net.outputs[0]
	assert np.array_equal(net(elements, raw=True).ravel(), expected.ravel())
	assert tensor.shape == (1, 1) and net(elements, raw=True).shape == expected.shape
	run = net.shared()
	assert run.inputs[0].shape == (1, 1)
	run.inputs[0][0, 0] = elements.ravel()[0]
	run.run()
	assert run.outputs[0].shape == expected.shape and run.outputs[0][0, 0] == expected.ravel()[0]
	assert nvdla.load(model, device, layout='nchw').inputs[0].shape == (1, 1, 1, 1)
	real = (elements.astype(np.float64) - tensor.zero_points[0]) * tensor.scales[0]
	answer = (expected.ravel().astype(np.float32) - output.zero_points[0]) * output.scales[0]
	assert np.allclose(net(real).ravel(), answer, rtol=1e-6)


def test_a_file_keeps_the_scales(models, device, tmp_path):
	model, elements, expected = reference(models, 'hello_world_int8')
	model.save(tmp_path / 'net.nvdla')
	for source in (tmp_path / 'net.nvdla', str(tmp_path / 'net.nvdla'), model.to_bytes()):
		net = nvdla.load(source, device)
		assert net.outputs[0].scales == nvdla.load(model, device).outputs[0].scales
		assert np.array_equal(net(elements, raw=True).ravel(), expected.ravel())


def test_the_report_names_the_layers():
	layers = nvdla.compile(onnx_model.sum_and_relu()).layers
	assert [layer.type for layer in layers] == ['Add', 'Relu']
	assert not any(layer.cpu for layer in layers)
	model = nvdla.compile(onnx_model.sum_and_relu())
	assert 'element-wise' in model.report and 'runs/s' in model.report
	assert model.report_as('svg').startswith('<svg ') and '<table>' in model.report_as('html')
	with pytest.raises(nvdla.InvalidArgument, match='pdf'):
		model.report_as('pdf')


def test_names_that_are_not_utf_8(device):
	file = onnx_model.sum_and_relu().replace(b'left', b'le\xfft').replace(b'positive', b'posit\xffve')
	net = nvdla.load(nvdla.compile(file), device)
	left, output = net.inputs[0].name, net.outputs[1].name
	assert (left, output) == ('le\ufffdt', 'posit\ufffdve')
	ones = np.ones((8, 4, 6), np.float32)
	assert np.array_equal(net({left: ones})[output], ones.reshape(1, 8, 4, 6))
	assert r'posit\xffve' in str(net.profile(ones))


def test_memory_that_is_shared(pair):
	left, right = numbers((1, 8, 4, 6)), numbers((1, 8, 4, 6))
	run = pair.shared()
	run.inputs[0][...], run.inputs[1][...] = left, right
	address = run.outputs[0].ctypes.data
	for _ in range(2):
		run.run()
		assert np.array_equal(run.outputs[0], left + right)
		run.inputs[1][...] = 0
		right = 0
	assert run.outputs[0].ctypes.data == address


def test_shared_memory_outlives_its_run(device):
	run = nvdla.load(nvdla.compile(onnx_model.sum_and_relu()), device).shared()
	array = run.inputs[0]
	del run
	gc.collect()
	array[...] = 7
	assert (array == 7).all()


def test_what_cannot_be_shared_is_said(device):
	net = nvdla.load(nvdla.compile(onnx_model.convolution(48, 4)), device)
	with pytest.raises(nvdla.Unsupported, match='"x".*48.*call the network'):
		net.shared()


def test_many_at_once(pair):
	lefts = [numbers((8, 4, 6)) for _ in range(40)]
	right = numbers((8, 4, 6))

	async def run():
		return await asyncio.gather(*(pair.run_async(left, right) for left in lefts))

	for left, outputs in zip(lefts, asyncio.run(run())):
		assert np.array_equal(outputs[0][0], left + right)


def test_threads_have_runs_of_their_own(pair):
	wrong = []

	def work(seed):
		left = np.full((8, 4, 6), seed, np.float32)
		for _ in range(20):
			if not (pair(left)[0] == seed).all():
				wrong.append(seed)

	threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
	for thread in threads:
		thread.start()
	for thread in threads:
		thread.join()
	assert not wrong


@pytest.fixture(scope='module')
def slow(device):
	"""A network that takes long enough to be met in the middle of a run."""
	return nvdla.load(nvdla.compile(onnx_model.convolution(128, 64)), device)


def test_a_task_that_is_cancelled(slow):
	async def run():
		task = asyncio.create_task(slow.run_async())
		await asyncio.sleep(0)
		task.cancel()
		with pytest.raises(asyncio.CancelledError):
			await task
		return await slow.run_async()

	assert not asyncio.run(run()).any()


def test_ctrl_c_in_mid_run(slow):
	main = threading.main_thread().ident

	def interrupt():
		while sys._current_frames()[main].f_code.co_name != '__call__':
			pass
		signal.pthread_kill(main, signal.SIGINT)

	thread = threading.Thread(target=interrupt)
	thread.start()
	with pytest.raises(KeyboardInterrupt):
		for _ in range(10000):
			slow()
	thread.join()
	assert not slow().any()


def test_other_threads_run_meanwhile(slow):
	begin = threading.Event()
	turns = []
	thread = threading.Thread(target=lambda: begin.wait() and turns.append(1))
	thread.start()
	old = sys.getswitchinterval()
	sys.setswitchinterval(1000)		# nobody is made to let others go on
	try:
		begin.set()
		for _ in range(200):
			slow()
			if turns:
				break
		assert turns
	finally:
		sys.setswitchinterval(old)
		thread.join()


def test_the_longest_operation_comes_first(pair):
	profile = pair.profile(numbers((8, 4, 6)))
	durations = [operation.duration for operation in profile.slowest()]
	assert durations == sorted(durations, reverse=True) and len(durations) == len(profile.operations)
	assert profile.operations[0].engine == 'SDP' and 'read_stall' in profile.operations[0].counters
	assert 0 < max(durations) <= profile.duration
	assert 'SDP' in str(profile) and f' on {pair.device.path}' in str(profile)
	assert len({str(operation) for operation in profile.operations}) == len(profile.operations)


def test_a_profile_leaves_python(pair):
	profile = pair.profile(numbers((8, 4, 6)))
	told = json.loads(json.dumps(profile.to_dict()))
	assert told['operations'][0]['engine'] == 'SDP' and told['duration'] == profile.duration
	assert [layer['layer'] for layer in told['layers']] == [layer.layer for layer in profile.layers]
	assert profile.name in repr(profile) and '<td>SDP</td>' in profile._repr_html_()


def test_a_device_says_what_it_is(device):
	info = device.info()
	assert info['atom_bytes'] == 32 and info['max_bo_bytes'] > 1 << 20
	assert info['variant'] == 'nv_full' and info['capabilities'] == 'winograd, compression, sdp-y'
	assert info['buffer_banks'] * info['bank_entries'] * info['entry_bytes'] == 512 << 10
	json.dumps(info)
	assert isinstance(nvdla.devices(), list)


def test_memory_stays_the_same(pair):
	left = numbers((8, 4, 6))

	def peak():
		for _ in range(300):
			pair(left, left)
		gc.collect()
		return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

	peak()
	before = peak()
	assert peak() - before < 4096		# KiB


def test_no_descriptor_is_left(device):
	def descriptors():
		gc.collect()
		return len(os.listdir('/proc/self/fd'))

	def use():
		net = nvdla.load(nvdla.compile(onnx_model.sum_and_relu()), device)
		asyncio.run(net.run_async())
		net.shared().run()

	use()
	before = descriptors()
	use()
	assert descriptors() == before


def test_the_default_device_is_the_first_nvdla():
	net = nvdla.load(nvdla.compile(onnx_model.classifier()))
	assert net.device.path == (nvdla.devices() or ['embedded'])[0]
