# SPDX-License-Identifier: MIT
"""Pools: networks on several devices at once."""

import dataclasses
import itertools
import os
from typing import Any, List, Optional, Sequence, Union

from . import _nvdla
from ._model import Model
from ._network import Runnable, open_network, tensors


@dataclasses.dataclass(frozen=True)
class DeviceUse:
	"""A pool's figures for one of its devices.

	lost:      True if the device was removed or its driver unbound; it gets no more runs
	running:   runs that are on the device now
	completed: runs that the device has answered, with results or errors
	moved:     runs that were in flight on the device when it was lost, and that another device repeated
	busy:      seconds during which the device had at least one run
	"""

	path: str
	lost: bool
	running: int
	completed: int
	moved: int
	busy: float


class PoolNetwork(Runnable):
	"""A network on all devices of a pool. Made by Pool.load(); see Runnable for how it is run.

	The pool gives each run to the device with the fewest runs. When a device is lost, another device repeats its
	runs; nvdla.DeviceLost is raised when no device is left. Ctrl-C, or cancelling an asyncio task, ends the waiting
	for a run, but not the run itself.
	"""

	def __init__(self, pool: 'Pool', number: int, name: str, layout: Optional[str]):
		self._number = number
		self.name = name
		self.pool = pool
		self.inputs = tensors(pool._pool.inputs(number), layout)
		self.outputs = tensors(pool._pool.outputs(number), layout)

	def __repr__(self) -> str:
		return f'<nvdla.PoolNetwork {self.name}>'

	def _take_run(self):
		# A stream is a sequence of runs whose answers a pool gives in order. Each run gets a stream of its own,
		# so that no run waits for an earlier run. map() keeps the order itself.
		return _nvdla.PoolRun(self.pool._pool, self._number, next(self.pool._streams))


class Pool:
	"""Several devices that share the runs of one or more networks.

	devices:     paths or Devices; by default all devices that the kernel drives, or "embedded"
		     if there are none. Each "embedded" is another device model in this process
	slots:       largest number of runs on each device at once
	max_pending: largest number of runs that are queued or running

	Raises the errors of nvdla.Device.
	"""

	def __init__(self, devices: Optional[Sequence[Union[str, Any]]] = None, *, slots: int = 2,
		     max_pending: int = 1024):
		from . import Device

		if slots < 1 or max_pending < 1:
			raise ValueError(f'slots {slots}, max_pending {max_pending}: both are at least 1')
		if devices is None:
			devices = _nvdla.devices() or ['embedded']
		if isinstance(devices, (str, Device)):
			raise TypeError(f'devices: a list, such as [{devices!r}]')
		opened = [device if isinstance(device, Device) else Device(device) for device in devices]
		self._pool = _nvdla.Pool([device._device for device in opened], slots, max_pending)
		self._streams = itertools.count()

	def load(self, network: Union[str, os.PathLike, bytes, Model], *, layout: Optional[str] = None) -> PoolNetwork:
		"""Load a network onto all devices; arguments and errors are those of nvdla.load()."""
		loadable, name = open_network(network, layout)
		return PoolNetwork(self, self._pool.add_network(loadable), name, layout)

	def add(self, device: Union[str, Any]) -> None:
		"""Add a device for runs from now on, such as one that appeared after the pool was made."""
		from . import Device

		self._pool.add_device((device if isinstance(device, Device) else Device(device))._device)

	def use(self) -> List[DeviceUse]:
		"""Return the DeviceUse of each device, in the order in which the devices were given."""
		return [DeviceUse(**one) for one in self._pool.use()]
