# SPDX-License-Identifier: MIT
"""Python in the guest: this system's interpreter, the project's Python package, and the modules
that the package imports.

The interpreter and all shared libraries are in the guest's image. The modules are thousands of files, so their folders
are mounted in the guest.
"""

import functools
import subprocess
import sysconfig
from pathlib import Path

from . import image
from .paths import build_dir

# The Python interpreter for which the project's package is built.
INTERPRETER = Path('/usr/bin/python3')
_PACKAGE = build_dir() / 'umd' / 'frameworks' / 'python'


def environment():
	return {'PYTHONPATH': str(_PACKAGE), 'PYTHONDONTWRITEBYTECODE': '1'}


@functools.cache
def _imported():
	"""Import the project's package on this machine. Returns a pair: the reason why that fails, or ''; and the
	shared libraries that Python loads with the package."""
	said = subprocess.run([INTERPRETER, '-c', 'import nvdla; print(open("/proc/self/maps").read())'],
			      capture_output=True, text=True, env=environment())
	if said.returncode != 0:
		return (said.stderr.strip().splitlines() or [f'exit status {said.returncode}'])[-1], []
	words = set(said.stdout.split())
	return '', sorted(word for word in words for folder in mounts() if word.startswith(f'{folder}/'))


def missing():
	"""Return the reason why the guest cannot have Python, or ''."""
	return _imported()[0]


def mounts():
	"""Return the folders that are mounted in the guest, at the same paths as on this machine."""
	return (Path(sysconfig.get_paths()['stdlib']), Path('/usr/lib/python3'), _PACKAGE)


def files():
	"""Return the interpreter, and the libraries with which it and its modules are linked: {path in the guest: path
	on this machine}."""
	return {name: Path(name) for name in [str(INTERPRETER), *image.libraries([INTERPRETER, *_imported()[1]])]}
