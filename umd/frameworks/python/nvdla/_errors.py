# SPDX-License-Identifier: MIT
"""Exceptions: one class for each kind of failure, all of them derived from nvdla.Error."""


class Error(Exception):
	"""A call that failed.

	The text says what was attempted, where, and which rule was broken: the value that was found
	and the value that was needed.

	Attributes: `code` (a short name such as "invalid-file"), and the parts of the text: `what`, `where`, `why`.
	"""

	code = 'error'
	what = where = why = ''


class InvalidArgument(Error, ValueError):
	"""An argument has an invalid value."""


class InvalidFile(Error, ValueError):
	"""A network or model is damaged or has another format."""


class Unsupported(Error, NotImplementedError):
	"""A valid request that this library or this device does not support."""


class NotFound(Error, FileNotFoundError):
	"""There is no such file."""


class NoDevice(Error, FileNotFoundError):
	"""There is no such device: see nvdla.devices()."""


class Io(Error, OSError):
	"""The operating system refused to read or write."""


class NoMemory(Error, MemoryError):
	"""The host's memory or the device's memory is used up."""


class DeviceRefused(Error):
	"""The driver refused the network; the text names the operation and its field."""


class DeviceFailed(Error):
	"""The device failed during a run, or was reset for another reason. It can be used again."""


class DeviceLost(Error):
	"""The device is gone: it was removed, or its driver unbound."""


class Timeout(Error, TimeoutError):
	"""The call took longer than allowed, or the run hung on the device, which was then reset."""


class Busy(Error):
	"""The queue of runs is full, or the SharedRun is still running: try again later."""


class Cancelled(Error):
	"""The run was cancelled."""


_CLASSES = {
	'invalid-argument': InvalidArgument,
	'invalid-file': InvalidFile,
	'unsupported': Unsupported,
	'not-found': NotFound,
	'no-device': NoDevice,
	'io': Io,
	'no-memory': NoMemory,
	'device-refused': DeviceRefused,
	'device-failed': DeviceFailed,
	'device-lost': DeviceLost,
	'timeout': Timeout,
	'busy': Busy,
	'cancelled': Cancelled,
}
_REMEDIES = {
	'no-device': 'nvdla.devices() lists those there are; device="embedded" is a model of one and needs none',
	'busy': 'wait for one of the runs, or let more of them wait: max_queued of nvdla.load(), max_pending of a Pool',
}


def make(code: str, what: str, where: str, why: str, message: str) -> Error:
	"""Make the exception for an error of the C++ library."""
	remedy = _REMEDIES.get(code)
	error = _CLASSES.get(code, Error)(f'{message} ({remedy})' if remedy else message)
	error.code, error.what, error.where, error.why = code, what, where, why
	return error
