# SPDX-License-Identifier: MIT
"""Neural networks on NVDLA.

	net = nvdla.load(nvdla.compile("model.tflite"), device="/dev/accel/accel0")
	y = net(x)

Without device=, the network runs on the first NVDLA of the kernel driver or, if there is none, on the
device model in this process (device="embedded").
"""

import os
from typing import Any, Dict, List, Union

from . import _nvdla
from ._errors import (Busy, Cancelled, DeviceFailed, DeviceLost, DeviceRefused, Error, InvalidArgument, InvalidFile, Io,
		      NoDevice, NoMemory, NotFound, Timeout, Unsupported)
from ._model import Layer, Model, compile
from ._network import Network, Outputs, Runnable, SharedRun, load
from ._pool import DeviceUse, Pool, PoolNetwork
from ._profile import Operation, Profile
from ._tensor import Tensor

__version__ = _nvdla.version

__all__ = ['Busy', 'Cancelled', 'Device', 'DeviceFailed', 'DeviceLost', 'DeviceRefused', 'DeviceUse', 'Error',
	   'InvalidArgument', 'InvalidFile', 'Io', 'Layer', 'Model', 'Network', 'NoDevice', 'NoMemory', 'NotFound',
	   'Operation', 'Outputs', 'Pool', 'PoolNetwork', 'Profile', 'Runnable', 'SharedRun', 'Tensor', 'Timeout',
	   'Unsupported', 'compile', 'devices', 'load']


def devices() -> List[str]:
	"""Paths of the devices that the kernel drives, sorted: "/dev/accel/accel0", ..."""
	return _nvdla.devices()


class Device:
	"""An open device, which several networks may share. Raises nvdla.NoDevice, nvdla.Io, nvdla.Unsupported.

	path: "/dev/accel/accelN", or "embedded" for the device model in this process;
	      "embedded:fp16=fast" computes FP16 convolutions in float32: many times faster than
	      "embedded", but not bit-exact. '', the default: the first of nvdla.devices(), or "embedded"
	      if there are none
	"""

	def __init__(self, path: Union[str, os.PathLike] = ''):
		if not isinstance(path, (str, bytes, os.PathLike)):
			raise TypeError(f'device: a path such as "/dev/accel/accel0", "embedded" or a Device is needed, not {path!r}')
		self._device = _nvdla.Device(os.fsencode(path))

	def __repr__(self) -> str:
		return f'<nvdla.Device {self.path}>'

	@property
	def path(self) -> str:
		return self._device.path

	def info(self) -> Dict[str, Any]:
		"""Properties of the core as the driver reports them: versions, sizes in bytes, limits."""
		return self._device.info()
