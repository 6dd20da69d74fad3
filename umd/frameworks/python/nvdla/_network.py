# SPDX-License-Identifier: MIT
"""Networks on a device, and their runs."""

import asyncio
import collections
import json
import os
import threading
import warnings
from typing import Any, Deque, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _nvdla, _tensor
from ._model import Model, file_name
from ._profile import Profile
from ._tensor import Tensor

_PRIORITIES = {'low': 0, 'normal': 1, 'high': 2}

Inputs = Union[np.ndarray, Dict[str, Any], Sequence[Any]]


class Outputs(tuple):
	"""The output arrays of a run, accessible by position or name: outputs[0] or outputs["left"]."""

	names: Tuple[str, ...]

	def __new__(cls, arrays: Sequence[np.ndarray], names: Sequence[str]) -> 'Outputs':
		outputs = super().__new__(cls, arrays)
		outputs.names = tuple(names)
		return outputs

	def __getitem__(self, key):
		return super().__getitem__(_index(self.names, key, 'output') if isinstance(key, str) else key)


def _check(timeout, priority):
	if priority not in _PRIORITIES:
		raise ValueError(f'priority "{priority}": it is "low", "normal" or "high"')
	if not 0 < timeout <= 86400:
		raise ValueError(f'timeout {timeout}: seconds, more than 0 and at most 86400')


class Runnable:
	"""A network that can be run: base of Network (on a device) and PoolNetwork (on a pool).

	Calling the object runs the network: `y = net(x)`. It may be called from several threads at once, and while runs
	of `run_async()` are in flight.

	Inputs are given by position, `net(a, b)`, or by name, `net({"left": a, "right": b})`; inputs that are left out
	are zero, of which a RuntimeWarning tells. An array of the tensor's own dtype (`net.inputs[0].dtype`) holds elements, which are passed on
	unchanged. An array of another floating-point dtype holds real numbers, which the scales in the network's file
	turn into elements. Dimensions of 1 may be left out of a shape. NaNs in an array, and numbers that an integer
	input clips to its range, cause a RuntimeWarning.

	One output is returned as an array, several as `Outputs`. The arrays are float32: the real numbers for which the
	elements stand. With `raw=True` the arrays hold the elements themselves. Each array owns its memory. An output
	with an open axis (`None` in its shape) is an array of the length that this run gave the axis, which may be 0.

	Options of all runs: `raw`; `timeout`: a run fails if for so many seconds (default 30) no
	operation begins or ends on the hardware; `priority`: "low", "normal" or "high".

	Raises TypeError and ValueError for arrays that do not fit, nvdla.Timeout for a run that
	hung, nvdla.DeviceFailed, nvdla.DeviceLost, nvdla.DeviceRefused. Ctrl-C cancels the run:
	KeyboardInterrupt.

	Attributes: `name`; `inputs` and `outputs`, tuples of Tensor.
	"""

	name: str
	inputs: Tuple[Tensor, ...]
	outputs: Tuple[Tensor, ...]

	def __call__(self, *inputs: Any, raw: bool = False, timeout: float = 30.0,
		     priority: str = 'normal') -> Union[np.ndarray, Outputs]:
		"""Run the network and wait for the outputs. Other Python threads continue meanwhile."""
		run = self._submit(inputs, timeout, priority)
		run.wait()
		return self._finish(run, raw)

	async def run_async(self, *inputs: Any, raw: bool = False, timeout: float = 30.0,
			    priority: str = 'normal') -> Union[np.ndarray, Outputs]:
		"""Run the network, for asyncio; any number of runs may be in flight.

		Cancelling the task cancels the run. Raises nvdla.Busy if too many runs are waiting.
		"""
		run = self._submit(inputs, timeout, priority, busy=True)
		loop = asyncio.get_running_loop()
		done = loop.create_future()
		loop.add_reader(run.fileno(), lambda: done.done() or done.set_result(None))
		try:
			await done
		except asyncio.CancelledError:
			run.cancel()
			raise
		finally:
			loop.remove_reader(run.fileno())
		run.wait()
		return self._finish(run, raw)

	def map(self, frames: Iterable[Any], depth: int = 8, *, raw: bool = False, timeout: float = 30.0,
		priority: str = 'normal') -> Iterator[Union[np.ndarray, Outputs]]:
		"""Run the network on each of `frames`, which may be endless, and yield the outputs in the order of the frames.

		depth: largest number of runs in flight. When it is reached, the next frame is
		       taken and waits until the oldest run has ended
		raw, timeout, priority: as for a call
		"""
		if depth < 1:
			raise ValueError(f'depth {depth}: it is at least 1')
		runs: Deque[Any] = collections.deque()
		for frame in frames:
			if len(runs) == depth:
				runs[0].wait()
				yield self._finish(runs.popleft(), raw)
			runs.append(self._submit((frame,), timeout, priority))
		while runs:
			runs[0].wait()
			yield self._finish(runs.popleft(), raw)

	def _take_run(self) -> Any:
		raise NotImplementedError

	def _give_back(self, run: Any) -> None:
		"""Hook for derived classes, called when a run's outputs were copied: the run object may be used
		again."""

	def _submit(self, inputs, timeout, priority, statistics=False, busy=False):
		_check(timeout, priority)
		values = self._by_position(inputs)
		# A run object still holds the inputs of its previous run: an input that is left out is set to zeros.
		given = [_tensor.fit(tensor, values.get(index, np.zeros(tensor.shape, tensor.dtype)))
			 for index, tensor in enumerate(self.inputs)]
		run = self._take_run()
		for index, (array, real) in enumerate(given):
			(run.set_real if real else run.set_elements)(index, array, self.inputs[index].nhwc)
		missing = [f"'{tensor.name}'" for index, tensor in enumerate(self.inputs) if index not in values]
		if missing:
			text = ('input {} is zero: no array was given for it' if len(missing) == 1 else
				'inputs {} are zero: no arrays were given for them')
			# Stack level 3 skips this function and the public one that called it.
			warnings.warn(text.format(', '.join(missing)), RuntimeWarning, stacklevel=3)
		run.submit(float(timeout), _PRIORITIES[priority], statistics, busy)
		return run

	def _by_position(self, inputs):
		"""Return the given values, by the indices of their inputs."""
		if len(inputs) == 1 and isinstance(inputs[0], dict):
			names = [tensor.name for tensor in self.inputs]
			return {_index(names, name, 'input'): value for name, value in inputs[0].items()}
		if len(inputs) > len(self.inputs):
			raise TypeError(f'{len(inputs)} inputs given, {self.name} has {len(self.inputs)}: '
					f'{", ".join(tensor.name for tensor in self.inputs)}')
		return dict(enumerate(inputs))

	def _finish(self, run, raw):
		"""Return the outputs of a finished run, and release the run object for another run. raw: True for
		elements, False for real numbers, None for no outputs."""
		arrays = [] if raw is None else [
			np.asarray(run.elements(index, tensor.nhwc) if raw else run.real(index, tensor.nhwc))
			.view(tensor.dtype if raw else np.float32)
			.reshape(run.shape(index) if tensor.is_open else tensor.shape)
			for index, tensor in enumerate(self.outputs)]
		self._give_back(run)
		return arrays[0] if len(arrays) == 1 else Outputs(arrays, [tensor.name for tensor in self.outputs])


class Network(Runnable):
	"""A network resident on a device. Made by nvdla.load(); see Runnable for how it is run."""

	def __init__(self, loaded: '_nvdla.LoadedNetwork', name: str, device: 'Any',
		     layout: Optional[str]):
		self._loaded = loaded
		self._idle: List[_nvdla.Run] = []
		self._lock = threading.Lock()
		self.name = name
		self.device = device
		self.inputs = tensors(loaded.inputs(), layout)
		self.outputs = tensors(loaded.outputs(), layout)

	def __repr__(self) -> str:
		return f'<nvdla.Network {self.name} on {self.device.path}>'

	def profile(self, *inputs: Any, timeout: float = 30.0) -> Profile:
		"""Run the network once with performance counters, and return a Profile.

		Inputs that are left out are zero, as for a call. The times are measured by the driver. If the device is the device
		model ("embedded", or the device in a virtual machine), the times are those of this software on the
		host, not of a chip.
		"""
		run = self._submit(inputs, timeout, 'normal', statistics=True)
		run.wait()
		operations, layers, table = run.profile(self.name)
		_, seconds = run.times()
		self._finish(run, None)
		return Profile(self.name, seconds, json.loads(operations)['rows'], json.loads(layers)['rows'], table)

	def shared(self) -> 'SharedRun':
		"""Make a SharedRun, whose arrays are the device's memory: nothing is copied or converted."""
		return SharedRun(self)

	def _take_run(self):
		with self._lock:
			return self._idle.pop() if self._idle else _nvdla.Run(self._loaded)

	def _give_back(self, run):
		with self._lock:
			self._idle.append(run)


class SharedRun:
	"""A run whose inputs and outputs are numpy arrays in memory of the device. Made by Network.shared().

	`inputs` and `outputs` are arrays of elements, in the shape and order of the network's tensors; write `inputs`,
	`run()`, read `outputs`. Do not touch the arrays while `run()` runs: the device uses them.

	Raises nvdla.Unsupported for a tensor whose memory layout no numpy array can describe: one with more channels
	than an atom, the core's block of channels in memory (32 int8 channels or 16 of other types; 8 int8 channels on
	small cores), or one whose pixel format has the channels in another order.
	"""

	def __init__(self, network: Network):
		for tensor in (*network.inputs, *network.outputs):
			if tensor._strides is None:
				raise _errors_unsupported(tensor)
		self._run = _nvdla.Run(network._loaded)
		self._memory = []
		self.inputs = self._bind(network, network.inputs, True)
		self.outputs = self._bind(network, network.outputs, False)

	def _bind(self, network, tensors, is_input):
		arrays = []
		for index, tensor in enumerate(tensors):
			memory = _nvdla.SharedMemory(network.device._device, tensor.nbytes)
			self._run.bind(is_input, index, memory)
			self._memory.append(memory)
			arrays.append(_tensor.view(tensor, memory))
		return arrays

	def run(self, timeout: float = 30.0, priority: str = 'normal') -> None:
		"""Run the network and wait; see Runnable for options and exceptions."""
		_check(timeout, priority)
		for memory in self._memory:
			memory.end()
		try:
			self._run.submit(float(timeout), _PRIORITIES[priority], False, False)
			self._run.wait()
		finally:
			for memory in self._memory:
				memory.begin()


def load(network: Union[str, os.PathLike, bytes, Model], device: Union[str, 'Any'] = '', *,
	 layout: Optional[str] = None, slots: int = 4, max_queued: int = 4096) -> Network:
	"""Load a network onto a device.

	network:    a file's path, its bytes, or the Model that nvdla.compile() returned
	device:     "/dev/accel/accelN", or "embedded" for the device model in this process, or a
		    Device, which several networks may share. "embedded" may have options, such as
		    "embedded:nv_small"; nvdla-run(1) lists them. By default the first NVDLA of the
		    kernel driver, or "embedded" if there is none
	layout:     order of the arrays: "nchw" or "nhwc"; without it the order of the model that was compiled,
		    or "nchw" if another compiler made the file
	slots:      largest number of runs in flight; each takes its own memory on the device
	max_queued: largest number of runs that wait for one of the slots

	Raises nvdla.NotFound, nvdla.InvalidFile, nvdla.NoDevice, nvdla.NoMemory, nvdla.Unsupported.
	"""
	from . import Device

	if slots < 1 or max_queued < 1:
		raise ValueError(f'slots {slots}, max_queued {max_queued}: both are at least 1')
	loadable, name = open_network(network, layout)
	if not isinstance(device, Device):
		device = Device(device)
	return Network(_nvdla.LoadedNetwork(device._device, loadable, slots, max_queued), name, device, layout)


def open_network(network: Any, layout: Optional[str]) -> Tuple['_nvdla.Loadable', str]:
	"""Return the Loadable and the name of a network, which is given in one of the forms that load() takes."""
	if layout not in (None, *_tensor.LAYOUTS):
		raise ValueError(f'layout "{layout}": it is "nchw" or "nhwc"')
	if isinstance(network, Model):
		return network._compiled.loadable, network.name
	if isinstance(network, (bytes, bytearray, memoryview)):
		return _nvdla.Loadable.read(network), f'{len(network)} bytes'
	return _nvdla.Loadable.read_file(os.fsencode(network)), file_name(network)


def tensors(infos: List[Dict[str, Any]], layout: Optional[str]) -> Tuple[Tensor, ...]:
	"""Make a Tensor from each description that the C++ module returned."""
	return tuple(_tensor.describe(info, layout) for info in infos)


def _index(names, name, kind):
	found = [index for index, one in enumerate(names) if one == name]
	if len(found) != 1:
		raise KeyError(f'{len(found) or "no"} {kind}s are named "{name}": there are {", ".join(names)}')
	return found[0]


def _errors_unsupported(tensor):
	from ._errors import make

	why = (f'{tensor.shape} ({tensor.layout}) of {tensor.dtype} as {tensor.format} is not an array in memory: '
	       'call the network, which converts')
	return make('unsupported', 'share tensor', tensor.name, why, f'share tensor: "{tensor.name}": {why}')
