# SPDX-License-Identifier: MIT
"""scripts/run --model: a model of other tools on a picture."""

import subprocess
import tempfile
from pathlib import Path

from . import console, run as example, vm
from .console import Failure
from .vmrun import report

_PROGRAM = 'nvdla-run'
_TARGET = f'umd/tools/{_PROGRAM}'
_NODE = '/dev/accel/accel0'


def add_options(parser):
	"""The options of scripts/run that are about models."""
	parser.add_argument('--model', metavar='FILE', type=Path, help='a .tflite or .onnx file to run on the picture')
	parser.add_argument('--labels', metavar='FILE', type=Path, help='names of the model\'s classes, a line each')
	parser.add_argument('--top', metavar='N', type=int, help='how many classes to print (default: 3)')
	parser.add_argument('--mean', metavar='A,B,C', help='subtract from pixels, for models of floats (default: 0)')
	parser.add_argument('--normalize', metavar='N', help='divide pixels by this, after that (default: 1)')


def _command(program, device, files, arguments):
	words = [str(program), '--device', device, '--model', str(files['model']), '--input', str(files['picture']),
		 '--top', str(arguments.top)]
	if 'labels' in files:
		words += ['--labels', str(files['labels'])]
	for name in ('mean', 'normalize'):
		value = getattr(arguments, name)
		words += [f'--{name}', value] if value else []
	return words


def _run_in_guest(arguments, program, files, folder):
	found = example.prepare_guest(arguments.kernel)
	found, kernel, module = example.prepare_module(found, arguments.kernel)
	inside = example.copied_into(folder, files)
	options = vm.Options(kernel=kernel.release, share=folder, timeout=300)
	with console.stage('guest') as progress:
		outcome = vm.Machine(found, options, module, {_PROGRAM: program}, progress=progress).run(
			_command(_PROGRAM, _NODE, inside, arguments))
	if outcome.problems:
		report(outcome)
	return outcome.status


def run(arguments, picture):
	"""Compile and run the model that @arguments name on @picture."""
	files = {'model': arguments.model.absolute(), 'picture': picture}
	if arguments.labels:
		files['labels'] = arguments.labels.absolute()
	if arguments.device == 'embedded':
		program = example.prepare_programs(target=_TARGET)
		with console.stage('run'):
			status = subprocess.call(_command(program, 'embedded', files, arguments))
	else:
		program = example.prepare_programs_and_tree(_TARGET)
		with tempfile.TemporaryDirectory(prefix='nvdla-') as folder:
			status = _run_in_guest(arguments, program, files, Path(folder))
	if status != 0:
		# 2: what it was given is at fault.
		raise Failure(f'{_PROGRAM} failed (status {status})', 2 if status == 2 else 1)
	return 0
