# SPDX-License-Identifier: MIT
"""Tells a full disk apart from a source that does not compile: the compiler's own words about the disk are buried among
its commands, or are missing, because the log is on the same disk."""

import os
import re
import shutil
import tempfile
from pathlib import Path

from .console import Failure
from .paths import build_dir

_FULL = re.compile('No space left on device|Disk quota exceeded')
# Bytes below which a disk counts as full: a failed step deletes its unfinished file.
_LITTLE = 4 << 20
# Megabytes that build/ takes after scripts/run, scripts/vm and a few tests.
_NEEDED = 700


class Full(Failure):
	"""A disk is full: nothing is known of the sources."""


def check(log):
	"""Raise Full if a step of a build, whose output is in the file @log, failed because a disk is full."""
	folders = {build_dir(): f'build/ takes up to {_NEEDED} MB: free some, or set NVDLA_BUILD_DIR to a folder on another disk',
		   Path(tempfile.gettempdir()): 'compilers write there: free some, or set TMPDIR to a folder on another disk'}
	bytes_free = {folder: free(folder) for folder in folders}
	folder = min(bytes_free, key=bytes_free.get)
	if bytes_free[folder] < _LITTLE:
		raise Full(f'the disk of {folder} is full ({bytes_free[folder] >> 20} MiB free), and {folders[folder]}; log: {log}')
	said = next((line for line in log.read_text(errors='replace').splitlines() if _FULL.search(line)), None)
	if said:
		raise Full(f'a disk is full: {said.strip()}; {build_dir()} has {bytes_free[build_dir()] >> 20} MiB free; log: {log}')


def free(folder):
	"""Return the free bytes of the disk of @folder, which need not exist."""
	there = next(path for path in (folder, *folder.parents) if os.path.isdir(path))
	return shutil.disk_usage(there).free
