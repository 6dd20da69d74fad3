# SPDX-License-Identifier: MIT
"""scripts/setup: makes the guest tree, unpacked Debian packages for the virtual machine. With this module, other
scripts make the tree while they compile."""

import contextlib
import fnmatch
import os
import subprocess
import sys

from . import build, console, debian_tree, guest, guest_tree, namespace, processes, prove, suite_tree
from .paths import COMMON, ROOT

_TEST_DATA = ROOT / 'scripts' / 'lib' / 'packages.test-data'


@contextlib.contextmanager
def _meanwhile(name, argv, errors=None, stop=processes.end):
	"""Run the command @argv, which makes the tree @name, while the body of the with statement runs; the command
	mostly waits for downloads. @errors: another stderr for the command. @stop(process) is called to end the command
	if the body is interrupted."""
	maker = processes.spawn(argv, stdin=subprocess.DEVNULL, stderr=errors)
	try:
		yield
		with console.waiting(name):
			maker.wait()
	finally:
		if maker.poll() is None:
			stop(maker)


def _tree_meanwhile(name, tree, module):
	"""Unless the path @tree exists, run the Python module @module to make the tree @name there. Its errors are
	dropped, because the step that needs the tree tries again and prints them."""
	return contextlib.nullcontext() if tree.is_dir() else _meanwhile(name, [sys.executable, '-m', module], subprocess.DEVNULL)


def guest_tree_meanwhile():
	"""Make the guest tree while the body of the with statement compiles. Raises Failure at once if this machine
	cannot use the tree."""
	guest.check_machine()
	return _tree_meanwhile('guest tree', guest_tree.path(), 'stack.guest')


def suite_tree_meanwhile():
	"""Make the suite tree, frameworks of a newer Debian for tests, while the body of the with statement
	compiles."""
	return _tree_meanwhile('suite tree', suite_tree.path(), 'stack.suite_tree')


def test_packages(names=None):
	"""Return the packages of packages.test-data that the tests @names need; without @names, all."""
	lines = [line.split('#')[0].split() for line in _TEST_DATA.read_text().splitlines()]
	return [package for package, *patterns in filter(None, lines)
		if names is None or any(fnmatch.filter(names, pattern) for pattern in patterns)]


def test_data_meanwhile(names=None):
	"""Install the packages that the tests @names need (None: those of all tests): for root while the body of the with
	statement compiles, for other users before, because sudo may ask for a password."""
	packages = test_packages(names)
	if not packages:
		return contextlib.nullcontext()
	argv = ['bash', '-c', 'set -euo pipefail; . "$1"; shift; ensure_wished "$@"', console.script(), COMMON, *packages]
	if os.geteuid() != 0:
		subprocess.run(argv)
		return contextlib.nullcontext()
	# Stop apt by SIGTERM, not SIGKILL: a killed package manager leaves packages half installed.
	return _meanwhile('test data', argv, stop=subprocess.Popen.terminate)


def main():
	parser = console.Parser('scripts/setup', '', description=(
		'Install the packages that the other scripts need and this machine lacks, with sudo unless root runs the script. '
		'The guest, which is the virtual machine of scripts/vm, also needs QEMU 10.1.1 or newer, and Linux 6.12 or newer '
		'with headers and a compiler. If this machine lacks any of these, scripts/setup unpacks all of them, from packages '
		'of Debian 13 and its backports, into ~/.cache/nvdla (the guest tree). If the guest tree exists, it is kept. On a system that allows no guest, such as most containers, it is left out. If build/ exists, Meson '
		'configures it again, to find the new packages. You need not run this script before the others: each of them first '
		'installs and unpacks what it needs.'))
	parser.add_argument('--remove', action='store_true', help=(
		'install nothing; delete all that the scripts unpacked or built in ~/.cache/nvdla: the guest tree, the guest trees of other '
		'processors, the suite tree (TensorFlow Lite and ONNX Runtime for tests), the debug kernel and kernel '
		'sources, the Debian systems of scripts/package, and the model checker of scripts/check-kmd'))
	arguments = parser.parse_args()
	if arguments.remove:
		guest_tree.remove()
		debian_tree.remove_all()
		suite_tree.remove()
		prove.remove()
		return 0
	with console.stage('build') as progress:
		build.look_again(progress)
	try:
		with console.stage('guest tree') as progress:
			found = guest.find(progress)
	except namespace.Refused as refused:
		console.say(f'guest tree: skipped: {refused}')
		console.say('guest tree: without it: building, and scripts/run --device embedded')
		return 0
	console.say(f'guest: {found.origin}, kernels {", ".join(found.series())}')
	return 0


if __name__ == '__main__':
	console.run_program(main)
