# SPDX-License-Identifier: MIT
"""Builds the project's programs for another processor with Meson. Meson runs inside of an unpacked
Debian tree that has the compiler and the libraries for this processor."""

import os
import re
import subprocess
from pathlib import Path

from . import namespace, processes, space
from .build import DoesNotCompile, alone
from .paths import ROOT, build_dir, reference_data

# Mount points inside of the tree. They are below /tmp, because namespace.inside() makes only those.
_SOURCES, BUILD, _DATA = (Path('/tmp', name) for name in ('sources', 'build', 'data'))
# Little optimisation, because programs for another processor only run tests, and compiling takes longer than the tests.
_OPTIONS = ('-Dwerror=true', '-Dtests=enabled', '-Dbench=disabled', '-Dpython=disabled', '-Dbuildtype=plain', '-Doptimization=1',
	    '-Dc_link_args=-s', '-Dcpp_link_args=-s')
# {architecture: Meson's name of the processor}, where the two differ.
_CPU_FAMILIES = {'i386': 'x86'}
_CROSS_FILE = '''\
[binaries]
c = ['ccache', '{gnu}-gcc']
cpp = ['ccache', '{gnu}-g++']
ar = '{gnu}-gcc-ar'
strip = '{gnu}-strip'
pkg-config = 'pkg-config'
exe_wrapper = 'qemu-{family}'

[properties]
needs_exe_wrapper = true
pkg_config_libdir = '/usr/lib/{libraries}/pkgconfig:/usr/share/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = '{cpu_family}'
cpu = '{family}'
endian = 'little'
'''


def folder(architecture):
	"""Return Meson's build directory for the @architecture."""
	return build_dir() / f'programs-{architecture.name}'


def inside(found, argv):
	"""Return the command that runs @argv inside of the tree of the Guest @found. There, the build directory
	(folder()) is /tmp/build."""
	data = reference_data()
	folders, variables = namespace.compiler_cache()
	folders |= {ROOT: _SOURCES, folder(found.architecture): BUILD, **({data: _DATA} if data else {})}
	folder(found.architecture).mkdir(parents=True, exist_ok=True)
	variables += [f'NVDLA_REFERENCE_DATA={_DATA}'] if data else []
	return namespace.inside(found.root, folders, ['env', *variables, *argv])


def _run(found, argv, name, progress, **how):
	log = folder(found.architecture) / f'{name}.log'
	argv = inside(found, argv)
	with alone(progress):
		status = processes.run_logged(argv, log, progress, **how)
	if status != 0:
		space.check(log)
		print(processes.tail(log, 30), end='', flush=True)
		raise DoesNotCompile(f'the project does not {name} for {found.architecture.name}; log: {log}')


def build(found, targets, progress):
	"""Build the @targets for the Guest @found; returns the build directory. @targets are paths
	in the build directory; [] stands for all."""
	built = folder(found.architecture)
	if not (built / 'build.ninja').is_file():
		progress('configuring')
		built.mkdir(parents=True, exist_ok=True)
		row = found.architecture
		(built / 'cross.ini').write_text(_CROSS_FILE.format(
			gnu=row.gnu, libraries=row.library_folder, family=row.family, cpu_family=_CPU_FAMILIES.get(row.family, row.family)))
		_run(found, ['meson', 'setup', *_OPTIONS, f'--cross-file={BUILD / "cross.ini"}', BUILD, _SOURCES], 'configure', progress)
	progress('compiling')
	_run(found, ['ninja', '-C', BUILD, *targets], 'compile', progress)
	return built


def files(found, programs):
	"""Return the files that the Guest @found needs for @programs ({name: path}), including their libraries: {path
	in the guest: path on this machine}."""
	there = Path('usr/lib', found.architecture.library_folder)
	needed, waiting = {}, list(programs.values())
	while waiting:
		said = subprocess.run(['readelf', '-W', '-d', '-l', str(waiting.pop())], capture_output=True, text=True, check=True,
				      env={**os.environ, 'LC_ALL': 'C'}).stdout
		names = [there / name for name in re.findall(r'Shared library: \[([^/\]]+)\]', said)]
		names += [Path(name).relative_to('/') for name in re.findall(r'program interpreter: ([^\]]+)\]', said)]
		for name in set(names) - needed.keys():
			needed[name] = found.root / name
			waiting.append(found.root / name)
	return {f'/{name}': path for name, path in needed.items()} | {f'/usr/bin/{name}': path for name, path in programs.items()}
