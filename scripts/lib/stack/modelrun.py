# SPDX-License-Identifier: MIT
"""scripts/run --model: runs a model of TensorFlow Lite, ONNX or Caffe on a picture.

The model is compiled on the host, because the guest's processor is emulated and slow, and because errors are then
printed before a guest is booted. Operators that NVDLA cannot compute run in ONNX Runtime or TensorFlow Lite
(Documentation/host-parts.md). If this system has no module for that, the library is taken from the suite tree (packages
of a newer Debian), in the guest as well.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

from . import build, console, image, run as example, suite_tree, vm
from .console import Failure
from .paths import build_dir
from .vmrun import report

_PROGRAM = 'nvdla-run'
_TARGET = f'umd/tools/{_PROGRAM}'
_COMPILER = 'umd/tools/nvdla-compile'
_INFO = 'umd/tools/nvdla-info'
_NODE = '/dev/accel/accel0'
# Length of an axis in the shape of an output if the model leaves the length open (openAxis in umd/include/nvdla/tensor.h).
_OPEN_AXIS = 0xffffffff


def _numbers(text):
	"""Check that an option has numbers separated by commas, before anything is built; returns @text."""
	try:
		list(map(float, text.split(',')))
	except ValueError:
		raise argparse.ArgumentTypeError(f'{text} is not a number, or numbers with commas between them') from None
	return text


def add_options(parser):
	"""Add the options of scripts/run for models to @parser."""
	parser.add_argument('--model', metavar='FILE', type=Path, help='run this model: a .tflite, .onnx or, for Caffe, .prototxt file with its .caffemodel beside it')
	parser.add_argument('--shape', metavar='SHAPE', action='append',
			    help='with --model: shape of an input, such as 1x3x224x224, or NAME=1x3x224x224 if the model has several inputs. It gives an ONNX model the sizes that the model leaves open, and replaces the sizes of a TensorFlow Lite model. Repeat for further inputs')
	parser.add_argument('--labels', metavar='FILE', type=Path, help='with --model: text file with the names of the model\'s classes, one a line')
	parser.add_argument('--top', metavar='N', type=int, help='with --model: number of classes to print (default: 3)')
	parser.add_argument('--mean', metavar='A,B,C', type=_numbers, help='with --model: subtract these numbers from the pixels (0 to 255): three, for red, green and blue, or one for a grey input (default: 0). Only float models usually need --mean and --normalize')
	parser.add_argument('--normalize', metavar='N', help='with --model: divide the pixels by this number, after subtracting --mean (default: 1)')


class _InSuite:
	"""Runs programs with ONNX Runtime or TensorFlow Lite of the suite tree. @module: path of the
	libnvdla-host-NAME.so that calls this library."""

	def __init__(self, module):
		self._module = module

	def command(self, program):
		return suite_tree.loader_command(program, modules=self._module.parent)

	# Programs and libraries have the same paths in the guest as on this machine.
	in_guest = command

	def files(self, program):
		"""Files that the guest needs in addition to @program: {path in the guest: path on the host}."""
		return image.suite_files([program, self._module])


class _Native:
	"""Runs programs that need only libraries of this system."""

	def command(self, program):
		return [str(program)]

	def in_guest(self, program):
		return [program.name]

	def files(self, program):
		return {}


def _compile(arguments, loadable):
	"""Compile the model to the file @loadable; returns a _Native or an _InSuite, depending on how programs have to
	be run for this model."""
	words = [arguments.model.absolute(), '-o', loadable]
	words += [word for shape in arguments.shape or () for word in ('--shape', shape)]
	compiler = build_dir() / _COMPILER
	is_embedded = arguments.device == 'embedded'
	# Try without ONNX Runtime and TensorFlow Lite first: the guest does not have this system's libraries, so a
	# model that needs one of them gets the library of the suite tree.
	if not is_embedded and _try(_Native(), compiler, [*words, '--host', 'never']).returncode == 0:
		return _Native()
	said = _try(_Native(), compiler, words)
	is_missing = 'libnvdla-host-' in said.stderr
	if (said.returncode == 0 and is_embedded) or (said.returncode != 0 and not is_missing):
		return _checked(said, _Native())
	# The module with which libnvdla lets the other library compute operators on the CPU.
	folder, name = ('tflite', 'tflite') if arguments.model.suffix == '.tflite' else ('onnxruntime', 'onnx')
	module = f'umd/frameworks/{folder}/host/libnvdla-host-{name}.so'
	try:
		with console.stage('suite tree') as progress:
			suite_tree.ensure(progress)
	except Failure as failure:
		# The compiler's message names the operator, and the package that installs the library.
		why = said.stderr.strip() or 'the guest has no library of this system for what NVDLA cannot compute'
		hint = '' if is_embedded else '\nwithout it: install the library and use --device embedded'
		raise Failure(f'{failure}\nit is for this: {why}{hint}') from None
	with console.stage('build') as progress:
		way = _InSuite(build.suite_module(progress, module))
	return _checked(_try(way, compiler, words), way)


def _try(way, compiler, words):
	return subprocess.run([*way.command(compiler), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def _checked(said, way):
	if said.returncode != 0:
		raise Failure(said.stderr.strip(), 2 if said.returncode == 2 else 1)
	return way


def _check_options(arguments, way, loadable):
	"""Raise Failure if --mean or --labels do not fit the network @loadable. nvdla-run would say so, too, but only after
	the guest has booted."""
	if not (arguments.mean or arguments.labels):
		return
	said = _try(way, build_dir() / _INFO, ['--json', loadable])
	if said.returncode != 0:
		return
	network = json.loads(said.stdout)
	if arguments.mean:
		_check_mean(arguments.mean, _tensors(network, 'input'))
	if arguments.labels:
		_check_labels(arguments.labels, _tensors(network, 'output'))


def _tensors(network, flag):
	"""Return the inputs or outputs (@flag) of @network, the JSON that nvdla-info prints."""
	tensors = {tensor['id']: tensor for tensor in network['tensor_desc_list']}
	bound = sorted((memory['bind_id'], memory['tensor_desc_id']) for memory in network['memory_list'] if flag in memory['flags'])
	return [tensors[tensor] for _, tensor in bound if tensor in tensors]


def _check_labels(labels, outputs):
	"""Raise Failure unless the file @labels has as many lines as one of the @outputs has elements. The number of an
	output with an open axis is known only after a run."""
	lines = labels.read_bytes().split(b'\n')
	number = len(lines) - (lines[-1] == b'')
	counts = ['a varying number' if _OPEN_AXIS in output.get('signature', {}).get('shape', ())
		  else math.prod(output[axis] for axis in 'nchw') for output in outputs]
	if counts and number not in counts:
		raise Failure(f'--labels {labels}: has {number} lines, which must be the number of elements of an output: '
			      f'{", ".join(map(str, counts))}', 2)


def _check_mean(mean, inputs):
	"""Raise Failure if the first of the @inputs has colours and @mean, the numbers of --mean, are fewer than three, or if it
	is grey and they differ. As for nvdla-run, zeros at the end do not count."""
	channels = inputs[0]['c'] if inputs else None
	numbers = [float(number) for number in mean.split(',')]
	if channels == 1 and any(numbers[1:]) and (len(numbers) != 3 or len(set(numbers)) > 1):
		raise Failure(f'--mean {mean}: give one number; the input is grey', 2)
	if channels not in (None, 1) and len(numbers) < 3:
		raise Failure(f'--mean {mean}: give three numbers, for red, green and blue', 2)


def _command(program, device, files, arguments):
	words = [*program, '--device', device, '--loadable', str(files['loadable']), '--input', str(files['picture']),
		 '--top', str(arguments.top)]
	if 'labels' in files:
		words += ['--labels', str(files['labels'])]
	for name in ('mean', 'normalize'):
		value = getattr(arguments, name)
		words += [f'--{name}', value] if value else []
	return words


def _run_in_guest(arguments, way, program, files, folder):
	found = example.prepare_guest(arguments.kernel)
	found, kernel, module = example.prepare_module(found, arguments.kernel)
	inside = files | {'loadable': files['loadable'].name}
	command = example.with_files(folder, [path for name, path in files.items() if name != 'loadable'],
				     _command(way.in_guest(program), _NODE, inside, arguments))
	options = vm.Options(kernel=kernel.release, share=folder, timeout=300)
	with console.stage('guest') as progress:
		outcome = vm.Machine(found, options, module, {_PROGRAM: program}, way.files(program), progress=progress).run(command)
	if outcome.problems:
		report(outcome)
	return outcome.status


def run(arguments, picture):
	"""Compile the model that @arguments name, and run it on @picture."""
	if arguments.device == 'embedded':
		program = example.prepare_programs(_COMPILER, target=_TARGET)
	else:
		program = example.prepare_programs_and_tree(_TARGET, _COMPILER, *([_INFO] if arguments.mean or arguments.labels else []))
	with tempfile.TemporaryDirectory(prefix='nvdla-') as name:
		folder = Path(name)
		files = {'loadable': folder / f'{arguments.model.stem}.nvdla', 'picture': picture}
		if arguments.labels:
			files['labels'] = arguments.labels.absolute()
		with console.stage('compile'):
			way = _compile(arguments, files['loadable'])
		if arguments.device == 'embedded':
			# The program prints the loadable's path as it is given. So it runs in the temporary folder
			# and gets the file's name alone.
			named = files | {'loadable': files['loadable'].name}
			with console.stage('run'):
				status = subprocess.call(_command(way.command(program), 'embedded', named, arguments), cwd=folder)
		else:
			_check_options(arguments, way, files['loadable'])
			status = _run_in_guest(arguments, way, program, files, folder)
	if status != 0:
		# Status 2: an argument or a file is at fault.
		raise Failure(f'{_PROGRAM} failed (status {status})', 2 if status == 2 else 1)
	return 0
