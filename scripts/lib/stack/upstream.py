# SPDX-License-Identifier: MIT
"""Makes patches that add the driver to a kernel tree, in drivers/accel/nvdla.

The patches are made by git in a scratch repository with only those files of the kernel tree that the patches change,
and are then applied to the tree.
"""

import dataclasses
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import console, kernel_form, kmod
from .console import Failure
from .paths import ROOT, build_dir

DRIVER = Path('drivers/accel/nvdla')
_UAPI = Path('include/uapi/drm')
_BINDINGS = Path('Documentation/devicetree/bindings')
_ABI = Path('Documentation/ABI/testing/sysfs-driver-nvdla')
_DOCUMENTS = Path('Documentation/accel/nvdla')
_TITLE = 'NVDLA (NVIDIA DEEP LEARNING ACCELERATOR) DRIVER'
# Folder with the messages of the patches, Kconfig and the page of the kernel's documentation.
_PARTS = ROOT / 'kmd' / 'upstream'


@dataclasses.dataclass(frozen=True)
class Patch:
	"""One patch. @files: new files, {path: text}; @changes: files that it changes, {path: function that returns the
	changed text}; @maintained: paths for the file MAINTAINERS."""

	name: str
	files: dict
	changes: dict
	maintained: tuple

	def message(self):
		return (_PARTS / f'{self.name}.txt').read_text().split('\n', 1)[1]


def _series(identity):
	"""Return the patches, in their order. @identity: the maintainer, as "NAME <ADDRESS>"."""
	driver = kernel_form.driver(ROOT, build_dir() / 'include')
	engine = kernel_form.engine_names(ROOT) | {'nvdla_regs.h'}
	public = {_UAPI / name: text for name, text in kernel_form.public_headers(ROOT).items()}
	bindings = {_BINDINGS / 'npu' / path.name: _with_maintainer(path.read_text(), identity)
		    for path in (ROOT / _BINDINGS / 'npu').glob('*.yaml')}
	build = {DRIVER / 'Kconfig': (_PARTS / 'Kconfig').read_text(), DRIVER / 'Makefile': _makefile()}
	tests = {name for name in driver if name.startswith('tests/')}
	return [
		Patch('binding', bindings, {_BINDINGS / 'vendor-prefixes.yaml': _add_prefix},
		      tuple(map(str, sorted(bindings)))),
		Patch('uapi', public, {}, ('include/uapi/drm/nvdla_*.h',)),
		Patch('engine', {DRIVER / name: driver[name] for name in engine}, {}, (f'{DRIVER}/',)),
		Patch('driver', build | {_ABI: (ROOT / _ABI).read_text()} |
		      {DRIVER / name: text for name, text in driver.items() if name not in engine | tests},
		      {Path('drivers/accel/Kconfig'): _add_kconfig, Path('drivers/accel/Makefile'): _add_makefile},
		      (str(_ABI),)),
		Patch('kunit', {DRIVER / '.kunitconfig': (_PARTS / 'kunitconfig').read_text()} |
		      {DRIVER / name: driver[name] for name in tests},
		      {DRIVER / 'Kconfig': lambda text: text + '\n' + (_PARTS / 'Kconfig.kunit').read_text().split('\n', 1)[1],
		       DRIVER / 'Makefile': _add_tests}, ()),
		Patch('docs', {_DOCUMENTS / 'index.rst': (_PARTS / 'index.rst').read_text()},
		      {Path('Documentation/accel/index.rst'): _add_page}, (f'{_DOCUMENTS}/',)),
	]


def files(identity):
	"""Return the files that the patches add, {path in a kernel tree: text}. @identity: the maintainer."""
	return {path: text for patch in _series(identity) for path, text in patch.files.items()}


def _makefile():
	objects, optional, _ = kernel_form.objects(ROOT)
	listed = ' \\\n'.join(f'\t{name}' for name in objects)
	return ('# SPDX-License-Identifier: GPL-2.0-only\n\n'
		'# define_trace.h includes nvdla_trace.h from elsewhere.\nCFLAGS_nvdla_trace.o := -I$(src)\n\n'
		'obj-$(CONFIG_DRM_ACCEL_NVDLA) += nvdla.o\n'
		f'nvdla-y := \\\n{listed}\n' + ''.join(f'nvdla-$({option}) += {name}\n' for option, name in optional))


def _add_tests(text):
	_, _, tests = kernel_form.objects(ROOT)
	return text + 'nvdla-$(CONFIG_DRM_ACCEL_NVDLA_KUNIT_TEST) += \\\n' + ' \\\n'.join(f'\t{name}' for name in tests) + '\n'


def _with_maintainer(text, identity):
	"""Return the device tree binding @text with @identity as its maintainer in place of the mailing list."""
	return re.sub(r'^maintainers:\n  - .*$', f'maintainers:\n  - {identity}', text, flags=re.MULTILINE)


def _insert_sorted(text, pattern, line):
	"""Return @text with @line inserted in alphabetical order among the lines that match @pattern: before the first
	greater one, or after the last one."""
	lines = text.splitlines()
	places = [index for index, known in enumerate(lines) if re.match(pattern, known)]
	if not places:
		raise Failure(f'no line like "{line.splitlines()[0]}" where one is expected: is this a kernel tree?', 2)
	after = next((index for index in places if lines[index] > line), places[-1] + 1)
	return '\n'.join([*lines[:after], line, *lines[after:]]) + '\n'


def _add_kconfig(text):
	return _insert_sorted(text, r'source "drivers/accel/', 'source "drivers/accel/nvdla/Kconfig"')


def _add_makefile(text):
	return _insert_sorted(text, r'obj-\$\(CONFIG_DRM_ACCEL_', 'obj-$(CONFIG_DRM_ACCEL_NVDLA)\t\t+= nvdla/')


def _add_page(text):
	return _insert_sorted(text, r'   \w+/index$', '   nvdla/index')


def _add_prefix(text):
	return _insert_sorted(text, r'  "\^\w+,\.\*":$',
			      '  "^nvdla,.*":\n    description: NVIDIA Deep Learning Accelerator, open hardware')


def _with_entry(text, identity, maintained):
	"""Return @text, the file MAINTAINERS, with an entry for the driver, which names the files @maintained."""
	entry = '\n'.join([_TITLE, f'M:\t{identity}', 'L:\tdri-devel@lists.freedesktop.org', 'S:\tMaintained',
			   'T:\tgit https://gitlab.freedesktop.org/drm/misc/kernel.git',
			   *(f'F:\t{path}' for path in sorted(maintained))])
	entries = text.split('\n\n')
	entries = [known for known in entries if not known.startswith(_TITLE)]
	after = next((index for index, known in enumerate(entries)
		      if re.match(r'[^\n\t]+\n[A-Z]:\t', known) and known.upper() > entry.upper()), None)
	if after is None:
		raise Failure('MAINTAINERS has no entry that ours could stand before: is this a kernel tree?', 2)
	return '\n\n'.join([*entries[:after], entry, *entries[after:]])


def _git(folder, *arguments, text=None):
	run = subprocess.run(['git', '-C', str(folder), *arguments], capture_output=True, text=True, input=text)
	if run.returncode != 0:
		raise Failure(f'git {arguments[0]}: {(run.stderr or run.stdout).strip().splitlines()[-1]}')
	return run.stdout.strip()


def _identity(tree):
	values = []
	for key in ('user.name', 'user.email'):
		run = subprocess.run(['git', '-C', str(tree), 'config', key], capture_output=True, text=True)
		if not run.stdout.strip():
			raise Failure(f'git knows no {key} to sign the patches off with: git config --global {key} ...')
		values.append(run.stdout.strip())
	return values[0], values[1]


def make(tree, output):
	"""Write the patches for the kernel tree @tree to the folder @output; returns {path: text} of all files
	that they add or change."""
	for needed in ('MAINTAINERS', 'drivers/accel/Kconfig'):
		if not (tree / needed).is_file():
			raise Failure(f'{tree} has no {needed}: name the top folder of a Linux source tree', 2)
	if (tree / DRIVER).exists():
		raise Failure(f'{tree / DRIVER} is there already: take a tree without it (git checkout, or unpack it anew)', 2)
	if not shutil.which('git'):
		raise Failure('git is missing, which makes patches: apt-get install git')
	name, email = _identity(tree)
	identity = f'{name} <{email}>'
	changed, maintained = {}, []
	with tempfile.TemporaryDirectory() as folder:
		scratch = Path(folder)
		_git(scratch, 'init', '-q')
		_git(scratch, 'config', 'user.name', name)
		_git(scratch, 'config', 'user.email', email)
		series = _series(identity)
		made = {path for patch in series for path in patch.files}
		for path in {path for patch in series for path in patch.changes} - made | {Path('MAINTAINERS')}:
			changed[path] = (tree / path).read_text()
			_write(scratch, path, changed[path])
		_git(scratch, 'add', '-A')
		_git(scratch, 'commit', '-q', '-m', 'base')
		base = _git(scratch, 'rev-parse', 'HEAD')
		for patch in series:
			maintained += patch.maintained
			changed.update(patch.files)
			changed.update({path: change(changed[path]) for path, change in patch.changes.items()})
			changed[Path('MAINTAINERS')] = _with_entry(changed[Path('MAINTAINERS')], identity, maintained)
			for path, text in changed.items():
				_write(scratch, path, text)
			_git(scratch, 'add', '-A')
			_git(scratch, 'commit', '-q', '-s', '-F', '-', text=patch.message())
		output.mkdir(parents=True, exist_ok=True)
		for stale in output.glob('*.patch'):
			stale.unlink()
		_git(scratch, 'format-patch', '-q', '--no-signature', '-o', str(output.resolve()), base)
	return changed


def _write(folder, path, text):
	(folder / path).parent.mkdir(parents=True, exist_ok=True)
	(folder / path).write_text(text)


def apply(tree, output, changed):
	"""Apply the patches to @tree: as commits if it is a git work tree, otherwise to its files. Returns a phrase
	that says which was done."""
	inside = subprocess.run(['git', '-C', str(tree), 'rev-parse', '--show-toplevel'], capture_output=True, text=True)
	if inside.returncode == 0 and Path(inside.stdout.strip()).resolve() == tree.resolve():
		_git(tree, 'am', '-q', *(str(path.resolve()) for path in sorted(output.glob('*.patch'))))
		return 'as commits'
	for path, text in changed.items():
		_write(tree, path, text)
	return 'to its files'


def main():
	parser = console.Parser('scripts/upstream', '~/linux', description=(
		'Turn the driver for NVDLA (a hardware accelerator) into a series of patches for the Linux source tree DIR. The '
		'patches add drivers/accel/nvdla, its device tree binding, its user space interface and its documentation. The script writes '
		'the patches to a folder, and also applies them to DIR: as commits if DIR is a git work tree, else to its files only. The '
		'patches are signed off with the user.name and user.email that git has in DIR (with --check: its global ones).'))
	parser.add_argument('tree', metavar='DIR', type=Path, nargs='?',
			    help='top folder of a source tree of Linux 7.3 or newer; required unless --check is given')
	parser.add_argument('--output', metavar='FOLDER', type=Path, default=ROOT / 'out' / 'upstream',
			    help='write the patches to this folder (default: out/upstream)')
	parser.add_argument('--no-apply', dest='apply', action='store_false', help='only write the patches; do not change the source tree')
	parser.add_argument('--check', action='store_true', help=(
		'check the patches; needs no DIR. The script downloads, once, the source of the newest kernel in the list '
		'scripts/lib/kernels (1.1 GiB in ~/.cache/nvdla). It applies the patches to this source, runs checkpatch --strict, '
		'compiles the driver with W=1 and sparse, and runs the driver\'s KUnit tests in a UML kernel (Linux as a process of '
		'this machine)'))
	arguments = parser.parse_args()
	if bool(arguments.tree) == arguments.check:
		parser.error('name a folder, or --check and none')
	console.check_folder('--output', arguments.output)
	with console.stage('headers') as progress:
		kmod.build_headers(progress)
	if arguments.check:
		# Imported here, because upstream_check imports this module.
		from . import upstream_check
		return upstream_check.run(arguments.output)
	changed = make(arguments.tree, arguments.output)
	for path in sorted(arguments.output.glob('*.patch')):
		print(path)
	if arguments.apply:
		console.say(f'applied {apply(arguments.tree, arguments.output, changed)} of {arguments.tree}')
	return 0


if __name__ == '__main__':
	console.run_program(main)
