# SPDX-License-Identifier: MIT
"""Networks on several devices at once."""

import asyncio

import numpy as np
import pytest

import nvdla
import onnx_model


@pytest.fixture(scope='module')
def pool():
	return nvdla.Pool(['embedded'] * 3)


@pytest.fixture(scope='module')
def colours(pool):
	return pool.load(nvdla.compile(onnx_model.classifier()))


def pictures(count):
	"""Pictures that are of one colour each."""
	return [np.full((32, 32), 1, np.float32) * np.eye(3, dtype=np.float32)[index % 3, :, None, None]
		for index in range(count)]


def test_answers_come_in_order(pool, colours):
	before = sum(use.completed for use in pool.use())
	assert [int(scores.argmax()) for scores in colours.map(pictures(31), depth=12)] == [i % 3 for i in range(31)]
	use = pool.use()
	assert sum(one.completed for one in use) == before + 31
	assert all(one.completed and one.busy > 0 and not one.running and not one.lost for one in use)


def test_networks_share_the_devices(pool, colours):
	pair = pool.load(nvdla.compile(onnx_model.sum_and_relu()), layout='nhwc')
	left = np.arange(4 * 6 * 8, dtype=np.float32).reshape(4, 6, 8)
	assert np.array_equal(pair({'left': left})['sum'][0], left)
	assert colours(pictures(3)[2]).argmax() == 2
	assert pair(left.astype(np.float16), raw=True)[1].dtype == np.float16


def test_with_asyncio(colours):
	async def run():
		return await asyncio.gather(*(colours.run_async(picture) for picture in pictures(20)))

	assert [int(scores.argmax()) for scores in asyncio.run(run())] == [i % 3 for i in range(20)]


def test_frames_are_taken_when_there_is_room(colours):
	taken = []

	def frames():
		for index, picture in enumerate(pictures(10)):
			taken.append(index)
			yield picture

	answers = colours.map(frames(), depth=3)
	next(answers)
	assert len(taken) == 4
	assert len(list(answers)) == 9


def test_a_device_that_comes_later():
	pool = nvdla.Pool(['embedded'], slots=1)
	net = pool.load(nvdla.compile(onnx_model.classifier()))
	pool.add('embedded')
	assert len(list(net.map(pictures(20), depth=6))) == 20
	assert all(use.completed for use in pool.use())


def test_what_is_wrong_is_said():
	with pytest.raises(TypeError, match=r"a list, such as \['embedded'\]"):
		nvdla.Pool('embedded')
	with pytest.raises(ValueError, match='slots 0'):
		nvdla.Pool(slots=0)
	with pytest.raises(nvdla.NoDevice, match='accel99'):
		nvdla.Pool(['/dev/accel/accel99'])
	with pytest.raises(nvdla.InvalidArgument, match='devices'):
		nvdla.Pool([])
	with pytest.raises(TypeError, match='priorty'):
		list(nvdla.Pool(['embedded']).load(onnx_compiled()).map([], priorty='high'))
	with pytest.raises(ValueError, match='depth 0'):
		list(nvdla.Pool(['embedded']).load(onnx_compiled()).map([], depth=0))


def onnx_compiled():
	return nvdla.compile(onnx_model.classifier())
