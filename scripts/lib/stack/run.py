# SPDX-License-Identifier: MIT
"""scripts/run: runs the example network on a picture, through the whole stack or in one process."""

import argparse
import contextlib
import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import build, console, guest, kmod, modelrun, setup, space, vm
from .console import Failure, say
from .paths import EXAMPLE_PICTURE, ROOT, build_dir
from .vmrun import report

_PROGRAM = 'nvdla-edges'
_TARGET = f'umd/examples/{_PROGRAM}'
# Other ways to run the example, which the message of a failed step names.
_EMBEDDED = '"scripts/run --device embedded", without QEMU and the driver'
_KERNEL = '"scripts/run --kernel SERIES", another kernel (scripts/setup names them)'
_NODE = '/dev/accel/accel0'
_DEFAULT_OUTPUT = ROOT / 'out' / 'edges.png'
# Bytes that picture and timeline need at most.
_SPACE = 1 << 20
# Number of bytes at the start of a model that tell whether it is a text, and those that no text has: control characters.
_START_OF_MODEL = 512
_NOT_IN_TEXT = re.compile(rb'[\x00-\x08\x0e-\x1f\x7f]')
# Patterns of the first bytes of picture files.
_PICTURES = (rb'\x89PNG', rb'\xff\xd8\xff', rb'P[56]\s')

# Run a command, then show the driver's counters, which are sums over all processes (Documentation/ABI).
_AND_COUNTERS = '''\
"$@" || exit
cd /sys/class/accel/accel0/device || exit
engines='counters_conv counters_sdp counters_pdp'
echo
echo "$PWD:"
printf '%-18s' '' && printf '%15s' $engines && echo
for counter in operations busy_time_us read_stall_cycles write_stall_cycles saturation nan_input nan_output; do
	printf '%-18s' "$counter"
	for engine in $engines; do
		value=-
		[ ! -e "$engine/$counter" ] || read -r value <"$engine/$counter"
		printf '%15s' "$value"
	done
	echo
done
'''

# Make links to the copies of files at the files' own paths, then run a command: PATH COPY... -- COMMAND...
_AT_OWN_PATHS = '''\
while [ "$1" != -- ]; do
	[ -e "$1" ] || { mkdir -p "${1%/*}" && ln -s "$PWD/$2" "$1"; } || exit
	shift 2
done
shift
exec "$@"
'''

_DESCRIPTION = '''\
Build the programs for NVDLA, a hardware accelerator for neural networks, and the kernel driver. Run
the program nvdla-edges: its network (edge filters, ReLU, tone curve, max pooling; INT8) finds the
edges of a photograph. (The tone curve, a look-up table, brightens weak edges.) The program writes
a picture of the edges (PNG), whose colours stand for directions, and a timeline of the run (SVG).
It prints a table with the time of each operation and the NVDLA's counters: stalls (cycles in which
the NVDLA waited for memory), saturated values (results that the NVDLA clipped) and NaNs (none in
this network of integers).

No NVDLA is needed: the device model, an NVDLA in software, takes its place. By default nvdla-edges
runs in a guest, a virtual machine with the kernel driver, and QEMU attaches the device model to the
guest. With --device embedded the device model runs in the process of nvdla-edges, without QEMU;
the kernel driver is then not built.

With --model, a model of TensorFlow Lite, ONNX or Caffe is compiled and run on the picture in place
of the example network, and the classes with the highest scores are printed. The picture is cropped
to its centre and scaled to the model's input. Operators that neither NVDLA nor this project's
library can compute run in ONNX Runtime or TensorFlow Lite, which are downloaded when a model first
needs them. With --model, the script prints no table of operations and writes no timeline; for a
model, nvdla-prof in build/umd/tools prints and writes these.

The first run takes a few minutes: it installs packages (as root or with sudo), compiles, and
unpacks QEMU and kernels into ~/.cache/nvdla. The first run with --model also compiles the compiler
of models, which takes minutes again. Later runs take seconds.
'''


def _parser():
	parser = console.Parser('scripts/run', '--device embedded --picture photo.jpg', description=_DESCRIPTION,
					 formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('--device', choices=('vm', 'embedded'), default='vm', help='vm (default): run in a guest, with the kernel driver; embedded: run without a guest')
	parser.add_argument('--kernel', metavar='SERIES', help=(
		'with --device vm: kernel of the guest, 6.12, 7.3, ... (default: the newest for which the driver builds)'))
	parser.add_argument('--picture', metavar='FILE', type=Path, default=EXAMPLE_PICTURE, help='picture on which the network runs: a PNG, JPEG, PGM or PPM file (default: the example\'s photograph of a cat)')
	modelrun.add_options(parser)
	parser.add_argument('--output', metavar='FILE', type=Path,
			    help='without --model: PNG file to write (default: out/edges.png); the timeline is written beside it (default: out/edges.timeline.svg)')
	return parser


def parse(words=None):
	"""Parse the options. An option that would have no effect, because of other options, is an error."""
	parser = _parser()
	arguments = parser.parse_args(words)
	without_effect = [(option, needs) for option, given, works, needs in (
		('--kernel', arguments.kernel, arguments.device != 'embedded', 'a guest, which --device embedded has not'),
		('--output', arguments.output, not arguments.model, 'the example: with --model classes are printed'),
		*((f'--{name}', getattr(arguments, name), arguments.model, '--model')
		  for name in ('shape', 'labels', 'top', 'mean', 'normalize')),
	) if given is not None and not works]
	for option, needs in without_effect:
		parser.error(f'{option} has no effect without {needs}')
	arguments.output = arguments.output or _DEFAULT_OUTPUT
	arguments.top = 3 if arguments.top is None else arguments.top
	return arguments


def check_files(arguments):
	"""Raise Failure for a file that is missing or of the wrong kind, before anything is built."""
	_check_start('--picture', arguments.picture, _PICTURES,
		     'a PNG, JPEG, PGM (P5) or PPM (P6); nvdla-run --input takes arrays (.npy), too')
	if arguments.labels:
		_check_start('--labels', arguments.labels, [rb''], 'a text file with the names of the classes, one a line')
	if arguments.model:
		# ONNX files have no identifier. They are recognised by their first byte, which announces the version,
		# or by their name.
		models = (rb'\x08', rb'....TFL3', *([rb''] if arguments.model.suffix in ('.onnx', '.prototxt') else []))
		_check_start('--model', arguments.model, models, 'a model of TensorFlow Lite, ONNX or Caffe')
		_check_model(arguments.model)
		return
	output = arguments.output
	if os.path.isdir(output):
		raise Failure(f'--output {output} is a folder: name a PNG in it, such as {output / _DEFAULT_OUTPUT.name}', 2)
	if output.suffix.lower() != '.png':
		raise Failure(f'--output {output} is to be a PNG: name it {output.with_suffix(".png")}', 2)
	if output != _DEFAULT_OUTPUT and not os.path.isdir(output.absolute().parent):
		raise Failure(f'--output {output}: there is no folder {output.parent}', 2)


def _check_model(path):
	"""Raise Failure for a model that is empty, is text and should be binary, or the other way round. The compiler would say
	so, too, but its first build takes minutes."""
	with open(path, 'rb') as file:
		start = file.read(_START_OF_MODEL)
	if not start.strip():
		raise Failure(f'--model {path} is empty: download or export it again', 2)
	is_text = not _NOT_IN_TEXT.search(start)
	if is_text != (path.suffix == '.prototxt'):
		raise Failure(f'--model {path} is {"a text file" if is_text else "no text file"}, and a {path.suffix or "model"} is '
			      f'{"none" if is_text else "one"}: download or export it again', 2)


def _check_start(option, path, starts, wanted):
	try:
		if not path.is_file():
			raise Failure(f'{option} {path} is not there: name {wanted}', 2)
		with open(path, 'rb') as file:
			start = file.read(16)
	except OSError as error:
		raise Failure(f'{option} {path}: {error.strerror}: name {wanted}', 2) from None
	if not any(re.match(one, start, re.DOTALL) for one in starts):
		raise Failure(f'{option} {path} is not {wanted}', 2)


def _timeline(output):
	return output.with_suffix('.timeline.svg')


def _command(program, device, picture, output):
	"""Return the command of the example. It must be run in the folder of @output, so that its messages name no
	temporary folder."""
	return [str(program), '--device', device, '--input', str(picture), '--output', f'./{output.name}',
		'--timeline', f'./{_timeline(output).name}']


def _tell_errors(said, made, given):
	"""Print @said, which the example wrote to stderr. The messages name @given, the path for the picture that the user knows,
	in place of the temporary @made; the same with the timeline."""
	for path, shown in ((made, given), (_timeline(made), _timeline(given))):
		said = said.replace(f'./{path.name}', str(shown))
	print(said, end='', file=sys.stderr, flush=True)


def with_files(folder, files, command):
	"""Copy @files, absolute paths, into @folder, which is shared with the guest; returns a command that runs @command in
	the guest, in @folder. There the files have the paths that they have on this machine, so that messages name
	these."""
	pairs = []
	for index, path in enumerate(files):
		copy = Path(f'file{index}', path.name)
		(folder / copy).parent.mkdir()
		shutil.copyfile(path, folder / copy)
		pairs += [str(path), str(copy)]
	return ['sh', '-c', _AT_OWN_PATHS, 'sh', *pairs, '--', *command]


@contextlib.contextmanager
def otherwise(*ways):
	"""If the body of the with statement raises a Failure, add @ways to its message: other ways to run the stack."""
	try:
		yield
	except Failure as failure:
		raise Failure(f'{failure}\nwhat may still work: {", or ".join(ways)}', failure.status) from None


def prepare_guest(wanted):
	"""Stage "guest tree": find or make the parts of the guest, among them the kernel @wanted (None: any); returns
	the Guest."""
	with otherwise(_EMBEDDED), console.stage('guest tree') as progress:
		found = guest.find(progress, [wanted] if wanted else [])
	found.kernel(wanted)
	return found


def prepare_programs(*further, target=_TARGET):
	"""Stage "build": build the program @target (by default the example) and the targets @further; returns the
	program's path."""
	with console.stage('build') as progress:
		build.build(progress, [target, *further])
	return build_dir() / target


def prepare_programs_and_tree(target, *further):
	"""Build the program @target and the targets @further, and make the guest tree at the same time."""
	with otherwise(_EMBEDDED):
		tree = setup.guest_tree_meanwhile()
	with tree:
		return prepare_programs(build.MODEL, *further, target=target)


def prepare_module(found, wanted):
	"""Stage "module": choose the guest and kernel to boot, and build nvdla.ko for it; see kmod.choose()."""
	with otherwise(_EMBEDDED, _KERNEL), console.stage('module') as progress:
		return kmod.choose(found, wanted, progress)


@contextlib.contextmanager
def _making(given):
	"""If the body of the with statement can make no file in the folder of @given, the user's path for the picture, raise
	Failure with that path."""
	try:
		yield
	except OSError as error:
		is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
		raise Failure(f'--output {given}: no file can be made in its folder ({error.strerror}): '
			      f'name a file in another folder with --output, or {"free some space" if is_full else "make this one yours"}',
			      1 if is_full else 2) from None


@contextlib.contextmanager
def beside(output, given):
	"""Yield a temporary path for the picture, with the name of @output. Its folder is beside @output, so that the finished
	picture can replace that of an earlier run. @given: the path in messages."""
	with _making(given):
		output.parent.mkdir(parents=True, exist_ok=True)
		folder = tempfile.TemporaryDirectory(dir=output.parent, prefix='.run-')
	with folder as name:
		yield Path(name) / output.name


def run_in_guest(found, kernel, module, program, picture, output, given):
	"""Stage "guest": make the guest's image, start device model and QEMU, and run the example in the guest,
	to which only @output's folder is shared. @given: the path of the picture in messages."""
	share = output.parent
	options = vm.Options(kernel=kernel.release, share=share, timeout=300)
	command = ['sh', '-c', _AND_COUNTERS, 'sh', *_command(_PROGRAM, _NODE, picture, output)]
	with _making(given):
		command = with_files(share, [picture], command)
	with otherwise(_EMBEDDED, _KERNEL), console.stage('guest') as progress:
		said = []
		outcome = vm.Machine(found, options, module, {_PROGRAM: program}, progress=progress).run(command, errors=said.append)
		_tell_errors(b''.join(said).decode(errors='replace'), output, given)
	if outcome.problems:
		report(outcome)
	if outcome.status != 0:
		with otherwise(_EMBEDDED, _KERNEL):
			raise Failure(f'the example failed in the guest (status {outcome.status})', outcome.status)


def run_embedded(program, picture, output, given):
	"""Stage "run": runs the example with the device model in its process. @given: the path of the picture in messages."""
	with console.stage('run') as progress:
		progress(f'{_PROGRAM} with the device model in its process')
		ran = subprocess.run(_command(program, 'embedded', picture, output), cwd=output.parent, stderr=subprocess.PIPE,
				     text=True, errors='replace')
		_tell_errors(ran.stderr, output, given)
	if ran.returncode != 0:
		# Status 2: an argument or a file is at fault.
		raise Failure(f'the example failed (status {ran.returncode})', 2 if ran.returncode == 2 else 1)


def keep_result(made, output, given):
	"""Replace the result of an earlier run at @output by the file @made. @given: the path in messages."""
	if not made.is_file() or not made.read_bytes().startswith(b'\x89PNG'):
		# The guest may write to the shared folder after the example has ended, and then no program is told that the
		# disk is full.
		free = space.free(output.parent)
		why = f': its folder has {free >> 10} KiB free; free some space there, or name another' if free < _SPACE else ''
		raise Failure(f'the example wrote no PNG for {given}{why}')
	os.replace(made, output)
	os.replace(_timeline(made), _timeline(output))


def show_result(output):
	"""Stage "result": prints the time of each stage and the paths of the pictures."""
	# The path from the working directory, if the files are below it.
	shown = output.relative_to(Path.cwd()) if output.is_relative_to(Path.cwd()) else output
	console.say_durations()
	say(f'result: {shown}, each edge in the colour of its direction')
	say(f'timeline: {_timeline(shown)}, what ran when')


def main():
	arguments = parse()
	check_files(arguments)
	picture, output = arguments.picture.absolute(), arguments.output.absolute()
	if arguments.model:
		return modelrun.run(arguments, picture)
	with beside(output, arguments.output) as made:
		if arguments.device == 'embedded':
			run_embedded(prepare_programs(), picture, made, arguments.output)
		else:
			program = prepare_programs_and_tree(_TARGET)
			found = prepare_guest(arguments.kernel)
			found, kernel, module = prepare_module(found, arguments.kernel)
			run_in_guest(found, kernel, module, program, picture, made, arguments.output)
		keep_result(made, output, arguments.output)
	show_result(output)
	return 0


if __name__ == '__main__':
	console.run_program(main)
