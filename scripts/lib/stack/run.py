# SPDX-License-Identifier: MIT
"""scripts/run: the example network on a picture, through the whole stack or in one process."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from . import build, console, guest, kmod, vm
from .console import Failure, say
from .paths import EXAMPLE_PICTURE, ROOT, build_dir
from .vmrun import guest_programs, report

_PROGRAM = 'nvdla-edges'
_NODE = '/dev/accel/accel0'

_DESCRIPTION = '''\
Build the stack and run the example network (edge filters, ReLU, max pooling; INT8) on a
picture. The result is a PNG in out/.

By default the network goes all the way: nvdla-edges in a Linux guest, the kernel driver,
QEMU, the device model. With --device embedded the model runs in nvdla-edges itself: no
QEMU, no kernel driver.
'''


def _parse():
	parser = argparse.ArgumentParser(prog='scripts/run', description=_DESCRIPTION,
					 formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('--device', choices=('vm', 'embedded'), default='vm', help='where to run (default: vm)')
	parser.add_argument('--kernel', metavar='SERIES', help='the guest\'s: 6.12, 7.2, ... (default: the newest)')
	parser.add_argument('--picture', metavar='FILE', type=Path, default=EXAMPLE_PICTURE, help='PNG, PGM or PPM')
	parser.add_argument('--output', metavar='FILE', type=Path, default=ROOT / 'out' / 'edges.png',
			    help='PNG to write (default: out/edges.png)')
	return parser.parse_args()


def prepare_guest():
	"""Stage "guest tree": the parts the guest is made of."""
	with console.stage('guest tree') as progress:
		return guest.find(progress)


def prepare_programs():
	"""Stage "build": runtime, device model and tools."""
	with console.stage('build') as progress:
		build.build(progress, tests=False)
	path = build_dir() / 'umd' / 'examples' / _PROGRAM
	if not path.is_file():
		raise Failure(f'{path} was not built')
	return path


def prepare_module(found, kernel):
	"""Stage "module": nvdla.ko for the guest's kernel."""
	with console.stage('module') as progress:
		return kmod.build(found, kernel, progress)[0]


def run_in_guest(found, kernel, module, picture, output):
	"""Stage "guest": image, device model, QEMU, and the example in it."""
	share = output.parent
	inside = share / f'.input{picture.suffix}'
	shutil.copyfile(picture, inside)
	try:
		options = vm.Options(kernel=kernel.release, share=share, timeout=300)
		command = [_PROGRAM, '--device', _NODE, '--input', str(inside), '--output', str(output)]
		with console.stage('guest') as progress:
			outcome = vm.Machine(found, options, module, guest_programs(), progress=progress).run(command)
	finally:
		inside.unlink()
	if outcome.problems:
		report(outcome)
	if outcome.status != 0:
		raise Failure(f'the example failed in the guest (status {outcome.status})', outcome.status)


def run_embedded(program, picture, output):
	"""Stage "run": the example with the device model in its process."""
	with console.stage('run') as progress:
		progress(f'{_PROGRAM} with the device model in its process')
		status = subprocess.call([str(program), '--device', 'embedded', '--input', str(picture),
					  '--output', str(output)])
	if status != 0:
		raise Failure(f'the example failed (status {status})', 1)


def show_result(output):
	"""Stage "result": where the time went, and where the picture is."""
	if not output.is_file() or not output.read_bytes().startswith(b'\x89PNG'):
		raise Failure(f'the example wrote no PNG to {output}')
	for name, seconds in console.durations:
		say(f'  {name:12} {seconds:7.1f} s')
	say(f'result: {os.path.relpath(output)}')


def main():
	arguments = _parse()
	picture, output = arguments.picture.absolute(), arguments.output.absolute()
	if not picture.is_file():
		raise Failure(f'{arguments.picture} is not there: name a PNG, PGM or PPM with --picture')
	output.parent.mkdir(parents=True, exist_ok=True)
	output.unlink(missing_ok=True)
	if arguments.device == 'embedded':
		run_embedded(prepare_programs(), picture, output)
	else:
		found = prepare_guest()
		kernel = found.kernel(arguments.kernel)
		prepare_programs()
		module = prepare_module(found, kernel)
		run_in_guest(found, kernel, module, picture, output)
	show_result(output)
	return 0


if __name__ == '__main__':
	console.run_program(main)
