# SPDX-License-Identifier: MIT
"""The second half of scripts/setup: the guest tree."""

import argparse
import contextlib
import subprocess
import sys

from . import console, debian_tree, guest, guest_tree, processes, suite_tree


@contextlib.contextmanager
def _meanwhile(name, tree, module):
	"""While the body works, @module is run to make the tree @name at the path @tree, unless it is there.
	That is mostly downloading. Its lines are among the others; what goes wrong is said when the tree is
	asked for."""
	if tree.is_dir():
		yield
		return
	maker = processes.spawn([sys.executable, '-m', module], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	try:
		yield
		with console.stage(name):
			maker.wait()
	finally:
		if maker.poll() is None:
			processes.end(maker)


def guest_tree_meanwhile():
	"""The guest tree is made while the body compiles."""
	return _meanwhile('guest tree', guest_tree.path(), 'stack.setup')


def suite_tree_meanwhile():
	"""The suite tree is made while the body compiles."""
	return _meanwhile('suite tree', suite_tree.path(), 'stack.suite_tree')


def main():
	parser = argparse.ArgumentParser(prog='scripts/setup', description=(
		'Install what is missing on this machine and make the guest tree (QEMU, kernels '
		'and compiler of Debian 13, cached in ~/.cache/nvdla) unless the machine\'s own will do. '
		'Every other script does this by itself; what is there already is not done again.'))
	parser.add_argument('--remove', action='store_true', help='delete what is cached instead: the guest tree, the suite tree, the systems of scripts/package')
	arguments = parser.parse_args()
	if arguments.remove:
		guest_tree.remove()
		debian_tree.remove_all()
		suite_tree.remove()
		return 0
	with console.stage('guest tree') as progress:
		found = guest.find(progress)
	console.say(f'guest: {found.origin}, kernels {", ".join(found.series())}')
	return 0


if __name__ == '__main__':
	console.run_program(main)
