# SPDX-License-Identifier: MIT
"""Call traces of the kernel with the driver's source lines."""

import re
import subprocess

# nvdla_job_begin+0x1c/0x80 [nvdla]
_PLACE = re.compile(r'\b([A-Za-z_][\w.]*)\+0x([0-9a-f]+)/0x[0-9a-f]+ \[nvdla\]')
# Where the sources are while the module is built in the guest tree.
_BUILT_IN = '/mnt/'


def with_lines(text, module):
	"""@text, the kernel's messages, with the source line behind each place in @module, an unstripped nvdla.ko.

	Without debug information, or without binutils, it stays as it is.
	"""
	if module is None or not _PLACE.search(text):
		return text
	try:
		functions = _functions(module)
		places = sorted({(name, int(offset, 16)) for name, offset in _PLACE.findall(text) if name in functions})
		lines = _lines(module, [functions[name] + offset for name, offset in places])
	except (OSError, subprocess.CalledProcessError):
		return text
	known = dict(zip(places, lines))

	def shown(match):
		line = known.get((match.group(1), int(match.group(2), 16)))
		return f'{match.group()} ({line})' if line else match.group()

	return _PLACE.sub(shown, text)


def _functions(module):
	"""Offsets in the section of code: {name: offset}."""
	listed = subprocess.run(['nm', module], check=True, capture_output=True, text=True).stdout
	entries = (line.split() for line in listed.splitlines())
	return {entry[2]: int(entry[0], 16) for entry in entries if len(entry) == 3 and entry[1] in 'tT'}


def _lines(module, offsets):
	"""The source lines of @offsets, 'kmd/nvdla_job.c:12', or None where nothing is known."""
	# A return address is that of the next instruction.
	words = [f'{max(offset - 1, 0):#x}' for offset in offsets]
	said = subprocess.run(['addr2line', '-j', '.text', '-e', module, *words], check=True, capture_output=True,
			      text=True).stdout
	found = [line.removeprefix(_BUILT_IN).split(' (')[0] for line in said.splitlines()]
	return [None if line.startswith('?') or line.endswith((':0', ':?')) else line for line in found]
