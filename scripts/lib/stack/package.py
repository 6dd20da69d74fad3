# SPDX-License-Identifier: MIT
"""scripts/package: makes Debian packages of the project, in an installed Debian of the release that
the packages are for.

scripts/debian is what Debian calls the folder debian/; the version and the maintainer are filled in
here. Sources are copied to the build directory, where compiled files stay, so the next run
recompiles only what has changed.
"""

import email.utils
import os
import re
import shutil
from pathlib import Path

from . import build as project, console, debian_tree, locks, namespace, processes, space
from .console import Failure
from .paths import ROOT, build_dir, project_version

_DEBIAN = ROOT / 'scripts' / 'debian'
# Programs needed in addition to the Build-Depends: to build packages, to check them and to make the repository.
_TOOLS = ('apt-utils', 'build-essential', 'ccache', 'lintian')
# Where the folder with the sources and the packages is mounted in the Debian tree.
_INSIDE = Path('/tmp/build')
# Tags of lintian for a maintainer without an address. They are suppressed, because packages that stay on this machine
# need none.
_NO_ADDRESS = ('bogus-mail-host', 'bogus-mail-host-in-debian-changelog', 'root-in-contact')
# Debian releases whose kernel is new enough for the driver.
_WITH_DRIVER = (13,)
# For each Debian release, the build profiles of scripts/debian/control that leave out parts whose library the release
# lacks.
_PROFILES = {12: ['pkg.nvdla.noonnx'], 13: []}
_REPOSITORY = 'dpkg-scanpackages . >Packages && apt-ftparchive release . >Release.new && mv Release.new Release'


def default_version(release):
	"""Return the version of the packages for Debian @release. For dpkg it is older than the version for the next
	Debian release, so that an upgrade of Debian upgrades these packages, too."""
	return f'{project_version()}~deb{release}'


def _build_depends(release):
	"""Return the names of the packages in the field Build-Depends of scripts/debian/control for Debian @release; of
	alternatives the first one."""
	field = re.search(r'^Build-Depends:((?:\n .*)+)', (_DEBIAN / 'control').read_text(), re.MULTILINE).group(1)
	without = [f'<!{profile}>' for profile in _PROFILES[release]]
	entries = (entry.strip() for entry in field.split(','))
	return [re.sub(r'\s*(\(.*\)|\|.*|<.*>)$', '', entry).strip() for entry in entries
		if entry and not entry.endswith(tuple(without))]


def _maintainer():
	"""Return the maintainer's name and address, taken from the environment variables that Debian's own tools
	read."""
	name = os.environ.get('DEBFULLNAME') or 'NVDLA stack maintainers'
	return f'{name} <{os.environ.get("DEBEMAIL") or "root@localhost"}>'


def _write_debian(folder, release, version):
	"""Write the folder debian/ into the copy of the sources at @folder."""
	target = folder / 'debian'
	shutil.copytree(_DEBIAN, target)
	major, minor = project_version().split('.')[:2]
	values = {'MAINTAINER': _maintainer(), 'SERIES': f'{major}.{minor}', 'NEXT_SERIES': f'{major}.{int(minor) + 1}'}
	for name in ('control', 'rules'):
		text = (target / name).read_text()
		for word, value in values.items():
			text = text.replace(f'@{word}@', value)
		(target / name).write_text(text)
	date = email.utils.formatdate((ROOT / 'meson.build').stat().st_mtime, localtime=True)
	(target / 'changelog').write_text(
		f'nvdla ({version}) {debian_tree.SUITES[release]}; urgency=medium\n\n'
		'  * CHANGELOG.md of the sources tells what is new.\n\n'
		f' -- {_maintainer()}  {date}\n')


def _no_sources(folder, names):
	"""The argument ignore of shutil.copytree(): returns the @names in @folder of files that belong to git or were made
	by a build."""
	made = [name for name in names if name.startswith('build') or name == 'out'] if Path(folder) == ROOT else []
	return [name for name in names if name.startswith('.git') or name == '__pycache__'] + made


def _copy_sources(target):
	"""Make @target a copy of the present sources; compiled files in @target stay."""
	target.mkdir(parents=True, exist_ok=True)
	for entry in target.iterdir():
		if entry.is_dir() and not entry.name.startswith('obj-'):
			shutil.rmtree(entry)
		elif entry.is_file():
			entry.unlink()
	# Copies keep the time of the original, so unchanged files are not compiled again.
	shutil.copytree(ROOT, target, ignore=_no_sources, dirs_exist_ok=True)


def _run(system, folder, directory, command, log, progress, options=()):
	"""Run the shell command @command inside of the Debian tree @system; returns the exit status. The working
	directory is @directory, a path relative to @folder.

	@options: more words for DEB_BUILD_OPTIONS.
	"""
	folders, variables = namespace.compiler_cache()
	argv = ['env', 'PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin', *variables,
		# No packages with debug information are wanted, so none is compiled.
		f'DEB_BUILD_OPTIONS={" ".join(("noautodbgsym", *options))}', 'DEB_CFLAGS_APPEND=-g0', 'DEB_CXXFLAGS_APPEND=-g0',
		'sh', '-c', f'cd {_INSIDE / directory} && {command}']
	return processes.run_logged(namespace.inside(system, {folder: _INSIDE, **folders}, argv, owners=True), log, progress,
				    describe=_describe)


def _describe(pid, log):
	"""Return the progress of the process @pid, whose output is in the file @log: while a ninja runs, the steps done and the
	step that has run longest. The log's last line would be the beginning of a compiler's command."""
	ninja = processes.descendant(pid, 'ninja')
	return project.steps_done(ninja, log) if ninja else processes.last_line(pid, log)


def _compile(system, folder, release, optimised, progress):
	log = folder / 'build.log'
	kinds = '-b' if release in _WITH_DRIVER else '-B'
	profiles = [f'-P{profile}' for profile in _PROFILES[release]]
	argv = ' '.join(('dpkg-buildpackage', kinds, *profiles, '-nc', '-us', '-uc', f'-j{os.cpu_count()}'))
	if _run(system, folder, 'nvdla', argv, log, progress,
		() if optimised else ('noopt',)) != 0:
		space.check(log)
		print(processes.tail(log, 30), end='', flush=True)
		raise Failure(f'the packages for Debian {release} do not build; log: {log}')


def _lint(system, folder, progress):
	"""Run lintian, Debian's check of packages: print its warnings, and raise Failure for its errors."""
	log = folder / 'lintian.log'
	suppressed = '' if os.environ.get('DEBEMAIL') else f'--suppress-tags {",".join(_NO_ADDRESS)}'
	status = _run(system, folder, '.', f'lintian --allow-root --fail-on error {suppressed} *.changes', log, progress)
	for line in log.read_text(errors='replace').splitlines():
		if line.startswith(('E:', 'W:')):
			print(line, flush=True)
	if status != 0:
		raise Failure(f'lintian finds errors in the packages; log: {log}')


def _make_repository(system, folder, output, progress):
	"""Make @output a repository: a folder from which apt can install packages."""
	log = folder / 'repository.log'
	if _run(system, folder, '.', _REPOSITORY, log, progress) != 0:
		raise Failure(f'the list of the packages cannot be made; log: {log}')
	shutil.rmtree(output, ignore_errors=True)
	output.mkdir(parents=True)
	made = sorted([*folder.glob('*.deb'), folder / 'Packages', folder / 'Release'])
	for path in made:
		shutil.move(path, output / path.name)
	return [output / path.name for path in made if path.suffix == '.deb']


def tree(release, progress):
	"""Make the system in which packages for Debian @release are built, unless it exists; returns its path."""
	return debian_tree.ensure('package', release, [*_TOOLS, *_build_depends(release)], progress)


def build(release, output, progress, version=None, lint=True, optimised=True):
	"""Make the packages for Debian @release, and a repository of them in the folder @output; returns their paths.

	Earlier contents of @output are deleted. @optimised: False compiles in half the time, for tests of the packages
	in which the programs may be slow.
	"""
	version = version or default_version(release)
	system = tree(release, progress)
	# A build without optimisation has a folder of its own, so that neither build recompiles the other's files.
	folder = build_dir() / 'package' / (str(release) if optimised else f'{release}-noopt')
	# A lock of its own: the other scripts need not wait for this build, which takes long.
	with locks.held(folder.with_name(f'{folder.name}.lock'), progress, 'waiting for another run in this clone'):
		return _build_in(folder, system, release, output, progress, version, lint, optimised)


def _build_in(folder, system, release, output, progress, version, lint, optimised):
	progress(f'building version {version} for Debian {release}')
	_copy_sources(folder / 'nvdla')
	for stale in [*folder.glob('*.changes'), *folder.glob('*.deb')]:
		stale.unlink()
	_write_debian(folder / 'nvdla', release, version)
	_compile(system, folder, release, optimised, progress)
	if lint:
		_lint(system, folder, progress)
	return _make_repository(system, folder, output, progress)


def main():
	parser = console.Parser('scripts/package', '--debian 12', tells_version=False, description=(
		'Make Debian packages of the software for NVDLA, a hardware accelerator for neural networks: nvdla-dkms (the '
		'driver), libnvdla0 and libnvdla-dev (the library that runs networks), nvdla-host-onnx (lets ONNX '
		'Runtime compute what NVDLA cannot), nvdla-tools (the programs), nvdla-sim (the device model, an NVDLA in software, '
		'for QEMU) and python3-nvdla (the Python module). The script compiles the packages, and checks them with lintian, in a Debian system of '
		'their release, which it makes in ~/.cache/nvdla the first time. Debian 12 has no nvdla-dkms, because its kernel is too '
		'old for the driver, and no nvdla-host-onnx, because it has no ONNX Runtime. '
		'Documentation/install.md says what the script needs (Debian 12 or 13; root, or a range of subordinate IDs), and '
		'how to install the packages.'))
	parser.add_argument('--debian', metavar='RELEASE', type=int, choices=sorted(debian_tree.SUITES), default=13,
			    help='Debian release of the packages: 12 or 13 (default: 13)')
	parser.add_argument('--output', metavar='DIR', type=Path, help=(
		'write the packages to this folder, which becomes an apt repository; packages already in it are deleted first '
		'(default: out/packages-RELEASE)'))
	parser.add_argument('--version', metavar='VERSION', help=(
		'version of the packages, not that of the script, because packages are made in versions of their own; no ending is added to it '
		'(default: the version in meson.build, followed by ~debRELEASE)'))
	arguments = parser.parse_args()
	if arguments.version and not re.fullmatch(r'[0-9][A-Za-z0-9.+~]*', arguments.version):
		raise Failure(f'--version {arguments.version}: it can have letters, digits, ".", "+" and "~", a digit first', 2)
	output = arguments.output or ROOT / 'out' / f'packages-{arguments.debian}'
	console.check_folder('--output', output)
	if output.is_dir() and any(path.suffix != '.deb' and path.name not in ('Packages', 'Release') for path in output.iterdir()):
		raise Failure(f'--output {output}: it has files that are no packages, which would be deleted: choose another', 2)
	with console.stage('packages') as progress:
		made = build(arguments.debian, output.absolute(), progress, arguments.version)
	for path in made:
		console.say(f'package: {os.path.relpath(path)}')
	if not os.environ.get('DEBEMAIL'):
		console.say('packages: DEBEMAIL is not set, their maintainer has no address: set it to give them to others')
	return 0


if __name__ == '__main__':
	console.run_program(main)
