# SPDX-License-Identifier: MIT
"""Parts that are common to guests of all kinds: QEMU's arguments, the device model, and the kernel messages that
count as failures.
"""

import os
import re
import subprocess
import time

from . import pace, processes
from .architectures import AMD64
from .console import Failure
from .paths import ROOT, build_dir

_COMPLAINTS = re.compile(
	r'WARNING:|BUG:|Oops|KFENCE|KASAN: |UBSAN|ODEBUG:|kmemleak: (?:unreferenced|\d+ new)|'
	r'DMA-API: (?!preallocated|debugging enabled)|INFO: trying to register non-static key|'
	r'general protection fault|Kernel panic|'
	r'INFO: (?:task|rcu)|Out of memory: Killed|DMAR: \[|DMAR: DRHD: handling fault|possible recursive locking|refcount_t:')
# Messages about the emulated firmware, which appear at every boot and are no failures.
_HARMLESS_LINES = re.compile(r'DMAR: \[Firmware Bug\]')
# Warnings about the emulated hardware, which appear on the console at every boot.
_USUAL_WARNINGS = re.compile(r'\] (?:tsc: |mtrr: |ACPI: IRQ \d+ override)')
# Kernel parameters for an emulated processor: it has none of the hardware faults that mitigations work around, and
# the mitigations are slow.
EMULATED_WORDS = ('mitigations=off',)


def _quoted(path):
	"""Return a path as the value of a QEMU option, in which commas are doubled."""
	return str(path).replace(',', ',,')


def arguments(accelerator, memory, dma, processors=2, architecture=AMD64):
	"""Return QEMU's arguments for a machine without devices. @memory: in MiB; @dma: as in vm.Options."""
	split = ',kernel-irqchip=split' if dma == 'iommu' and not architecture.is_foreign else ''
	machine = f'{architecture.machine},memory-backend=ram{split}'
	# The IOMMU has to precede all devices behind it.
	iommu = ['-device', architecture.iommu] if dma == 'iommu' else []
	return [*iommu, '-nodefaults', '-no-user-config', '-display', 'none', '-machine', machine,
		'-accel', accelerator, '-cpu', architecture.cpu if accelerator == 'tcg' else 'host',
		'-smp', str(processors), '-m', f'{memory}M',
		# The device model maps the guest's memory, so the memory must be a file that can be passed to it.
		'-object', f'memory-backend-memfd,id=ram,size={memory}M,share=on']


def folder_arguments(folders):
	"""Return QEMU's arguments for shared @folders, a list of (path, whether it is writable). The guest mounts the
	folders by the tags mount0, mount1 and so on."""
	argv = []
	for index, (path, writable) in enumerate(folders):
		readonly = '' if writable else ',readonly=on'
		argv += ['-fsdev', f'local,id=fs{index},path={_quoted(path)},security_model=none{readonly}',
			 '-device', f'virtio-9p-pci,fsdev=fs{index},mount_tag=mount{index}']
	return argv


def device_arguments(sockets):
	"""Return QEMU's arguments for the device models that listen on @sockets."""
	argv = []
	for socket in sockets:
		argv += ['-device', '{"driver": "vfio-user-pci", "x-msg-timeout": 20000, '
			 f'"socket": {{"type": "unix", "path": "{socket}"}}}}']
	return argv


def complaints(log):
	"""Return the lines of a kernel's log that count as failures."""
	return [line.strip() for line in log.read_text(errors='replace').splitlines()
		if _COMPLAINTS.search(line) and not _HARMLESS_LINES.search(line)]


def last_message(log):
	"""Return the last line of a console's log, without lines that appear at every boot; '' if there is none."""
	lines = [line for line in log.read_text(errors='replace').strip().splitlines() if not _USUAL_WARNINGS.search(line)]
	return lines[-1] if lines else ''


def model_program():
	"""The path of the device model's program; raises Failure if it is not built."""
	path = build_dir() / 'firmware-sim' / 'tools' / 'nvdla-sim'
	if not path.is_file():
		raise Failure(f'{path} is not built: run ninja -C {build_dir()}')
	return path


def listens(socket):
	"""Return whether a server listens on the Unix socket. This reads the kernel's table of sockets, because the
	device model accepts only one connection."""
	accepting = 1 << 16
	with open('/proc/net/unix') as table:
		for line in table:
			fields = line.split()
			if len(fields) == 8 and fields[7] == str(socket) and int(fields[3], 16) & accepting:
				return True
	return False


def variants():
	"""The names of the configurations that the device model knows."""
	return re.findall(r'\.name = "(\w+)"', (ROOT / 'firmware-sim' / 'core' / 'geometry.cpp').read_text())


def start_model(socket, log, chip='', patience=20.0):
	"""Start nvdla-sim on @socket, with its fault injection enabled, and wait until it listens; returns the
	process.

	@chip: options of nvdla-sim without "--", separated by commas: variant=NAME for the
	configuration of the NVDLA, and the clock and memories of the chip for which the model
	counts how long operations take. @patience: seconds to wait.
	"""
	options = [f'--{option}' for option in chip.split(',') if option]
	if not any(option.startswith('--threads') for option in options):
		# Leave one processor to the guest: a thread of the model that shared it with the
		# guest would delay the other threads.
		options.append(f'--threads={max(1, len(os.sched_getaffinity(0)) - 1)}')
	with open(log, 'wb') as out:
		model = processes.spawn([model_program(), '--socket', socket, '--faults', *options],
					stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
	limit = pace.Limit(patience)
	while not listens(socket):
		if model.poll() is not None:
			said = processes.tail(log, 1).strip() or 'it said nothing'
			raise Failure(f'nvdla-sim ended at once: {said}')
		if limit.is_over():
			processes.end(model)
			raise Failure(f'nvdla-sim does not listen on {socket}; log: {log}')
		time.sleep(0.01)
	return model
