#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measure how much longer runs take in the guest (the virtual machine of scripts/vm, with the
kernel driver) than on the embedded device (the driver's code and the device model, an NVDLA in
software, in a process of the host).

First the overhead of the driver: for operations that compute next to nothing, their time in the
guest, and by how much it is longer than on the embedded device. Then, for each NETWORK, a row of a
table: the best time of a run on the embedded device and in the guest, the difference for each
layer, and the ratio of the mean to the best time in the guest. Times are those on the device,
without operations on the CPU. A layer is one operation of the NVDLA, or several that hand their
data over without memory, such as a convolution with its activation and pooling. The programs of
build/ are used as they are.
"""

import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_BUILD = Path(os.environ.get('NVDLA_BUILD_DIR', _ROOT / 'build'))
_MARK = '--- json of '


def _run(argv, **options):
	return subprocess.run([str(word) for word in argv], check=True, text=True, **options)


def _layers(loadable):
	"""Operations of a loadable that do not take another one's stream."""
	said = _run([_BUILD / 'umd/tools/nvdla-info', loadable], stdout=subprocess.PIPE).stdout
	operations = re.findall(r'^ +\d+ (?:BDMA|CONV|SDP|PDP|CDP|RUBIK) .*$', said, re.MULTILINE)
	return sum(', on the fly ->' not in line for line in operations)


def _device_times(report):
	"""Milliseconds on the device of each run."""
	runs = [sum(step['ms'] for step in run['steps'] if step['where'] == 'device') for run in report['runs']]
	return runs[1:-1]


def _network_command(program, device, loadable, repeat):
	return [str(program), '--device', device, '--loadable', str(loadable), '--repeat', str(repeat), '--json']


def _compile(models, folder):
	"""Loadables of @models in @folder, by the name of the model's folder."""
	loadables = {}
	for model in models:
		target = folder / f'{model.absolute().parent.name}-{model.stem}.nvdla'
		if model.suffix in ('.tflite', '.onnx'):
			_run([_BUILD / 'umd/tools/nvdla-compile', model, '-o', target], stdout=subprocess.DEVNULL)
		else:
			target.write_bytes(model.read_bytes())
		loadables[target.stem] = target
	return loadables


def _guest(arguments, folder, loadables):
	"""Run all of it in one guest; returns the reports of networks, by name."""
	repeat = str(arguments.repeat)
	lines = [shlex.join(['./driver-overhead', '--datapath', 'datapath', '--repeat', repeat])]
	for name, path in loadables.items():
		lines += [f'echo {shlex.quote(_MARK + name)}',
			  shlex.join(_network_command('nvdla-run', '/dev/accel/accel0', path.name, arguments.repeat + 2))]
	(folder / 'command').write_text('set -e\n' + '\n'.join(lines) + '\n')
	kernel = ['--kernel', arguments.kernel] if arguments.kernel else []
	said = _run([_ROOT / 'scripts/vm', '--no-build', *kernel, '--timeout', 1800, '--share', folder,
		     '--', 'sh', 'command'], stdout=subprocess.PIPE).stdout
	overhead, *reports = said.split(_MARK)
	print(overhead)
	parts = (report.partition('\n') for report in reports)
	return {name: json.loads(text) for name, _, text in parts}


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument('--kernel', metavar='SERIES', help='kernel of the guest: 6.12, 7.3, ... (default: as scripts/vm chooses)')
	parser.add_argument('--repeat', metavar='N', type=int, default=31, help='number of runs that are measured; one more before and one after them are not (default: 31)')
	parser.add_argument('network', metavar='NETWORK', nargs='*', type=Path, help='a model (.tflite or .onnx), which is compiled first, or a loadable (a compiled model)')
	arguments = parser.parse_args()

	with tempfile.TemporaryDirectory(prefix='nvdla-bench-') as name:
		folder = Path(name)
		(folder / 'driver-overhead').write_bytes((_BUILD / 'tests/bench/driver-overhead').read_bytes())
		(folder / 'driver-overhead').chmod(0o755)
		loadables = _compile(arguments.network, folder)
		_run([_BUILD / 'tests/bench/embedded-overhead', '--times', folder / 'datapath', '--repeat', arguments.repeat],
		     stdout=subprocess.DEVNULL)
		embedded = {}
		for network, path in loadables.items():
			command = _network_command(_BUILD / 'umd/tools/nvdla-run', 'embedded', path, arguments.repeat + 2)
			embedded[network] = json.loads(_run(command, stdout=subprocess.PIPE).stdout)
		guest = _guest(arguments, folder, loadables)
		if not loadables:
			return
		print('| network | layers | embedded, ms | guest, ms | beyond, ms a layer | mean / best |\n|---|---|---|---|---|---|')
		for network, path in loadables.items():
			there, here = (min(_device_times(reports[network])) for reports in (embedded, guest))
			layers = _layers(path)
			mean = statistics.mean(_device_times(guest[network]))
			print(f'| {network} | {layers} | {there:.1f} | {here:.1f} | {(here - there) / layers:.3f} | {mean / here:.2f} |')


if __name__ == '__main__':
	try:
		main()
	except subprocess.CalledProcessError as error:
		sys.exit(f'{Path(error.cmd[0]).name} failed with status {error.returncode}')
	except FileNotFoundError as error:
		sys.exit(f'{error.filename}: {error.strerror}; what is measured is built by: ninja -C {_BUILD}')
