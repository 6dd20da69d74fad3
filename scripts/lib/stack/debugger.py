# SPDX-License-Identifier: MIT
"""scripts/vm --gdb: gdb's commands for a guest whose driver is loaded and waits for its device."""

import os
import shlex
import socket

from .kmod import DRIVER, INSIDE
from .paths import ROOT

# Sections of the module that gdb must not know, because the kernel frees them after loading the module and reuses their
# addresses.
_FREED = ('.init.',)
_SHOWN = ('.text', '.data', '.bss', '.rodata', '.noinstr', '.exit.', '.ref.')


def commands(module, port, sections):
	"""Return the text of a command file for gdb. The commands connect to @port, load the symbols of @module for its
	@sections ({name: address} in the guest), and tell gdb where the sources are."""
	copy = module.parent.parent
	places = [f'-s {name} {address}' for name, address in sorted(sections.items())
		  if name.startswith(_SHOWN) and not name.startswith(_FREED)]

	def moved(there, here):
		return f'set substitute-path {shlex.quote(str(there))} {shlex.quote(str(here))}'

	return '\n'.join([
		'set architecture i386:x86-64',
		'set filename-display absolute',
		# The module is built from a copy of the sources. If the compiler of the guest tree
		# (unpacked Debian packages) builds it, the copy has the path INSIDE.
		*(moved(folder / DRIVER, ROOT / DRIVER) for folder in (INSIDE, copy)),
		moved(INSIDE / 'include', copy / 'include'),
		f'target remote 127.0.0.1:{port}',
		# With confirm on, add-symbol-file would ask whether the addresses are right.
		'set confirm off',
		f'add-symbol-file {shlex.quote(str(module))} {" ".join(places)}',
		'set confirm on', ''])


def is_connected(port):
	"""Whether a debugger is connected to QEMU's @port on this machine."""
	here, established = f'0100007F:{port:04X}', '01'
	with open('/proc/net/tcp') as table:
		return any(fields[1] == here and fields[3] == established for fields in map(str.split, table))


class Debugger:
	"""Makes the guest wait until a debugger is connected and lets it continue."""

	def __init__(self, port, module, file, say):
		"""@file: the file for gdb's commands; @say: called with each line of the instructions for starting gdb."""
		self._port = port
		self._module = module
		self._file = file
		self._say = say
		self._ours, self.guests = socket.socketpair()
		self._waits = self._seen = False

	@property
	def waits(self):
		"""Whether the guest waits for a debugger."""
		return self._waits

	def write(self, sections):
		"""Write gdb's command file, and remember that the guest waits. @sections: sections of the driver in the
		guest, {name: address}."""
		self._file.write_text(commands(self._module, self._port, sections))
		self._waits = True
		self._say('nvdla.ko is loaded, and probes its device when gdb has connected; in another terminal, run:')
		self._say(f'    gdb -x {os.path.relpath(self._file)}')
		self._say('    (gdb) break nvdla_open')
		self._say('    (gdb) continue')

	def look(self):
		"""Let the guest bind the driver if a debugger is connected.

		To be called every few hundred milliseconds. The guest may continue only at the second call that finds a
		connection, because QEMU stops the guest a little after gdb has connected.
		"""
		before, self._seen = self._seen, self._waits and is_connected(self._port)
		if before and self._seen:
			self._waits = False
			self._ours.sendall(b'go on\n')

	def close(self):
		self._ours.close()
		self.guests.close()
