# SPDX-License-Identifier: MIT
"""Adds the driver's source lines to call traces in the kernel's messages."""

import re
import subprocess

# An address in a call trace, such as nvdla_job_begin+0x1c/0x80 [nvdla]. Behind "RIP: 0010:" it is the address of the
# failed instruction, otherwise a return address.
_PLACE = re.compile(r'(RIP: \w+:)?\b([A-Za-z_][\w.]*)\+0x([0-9a-f]+)/0x[0-9a-f]+ \[nvdla\]')
# Begin of the name that objtool gives the padding before a function. If a stack has the address of the function itself, the
# kernel's message names the end of the padding, because it takes the address for a return address.
_PADDING = '__pfx_'
# Folder of the sources in the debug information of a module that was built inside of the guest tree (unpacked Debian
# packages).
_BUILT_IN = '/mnt/'


def with_lines(text, module):
	"""Add to @text, the kernel's messages, the source line after each address in @module, an unstripped nvdla.ko.

	Without debug information, or without binutils, @text is returned unchanged.
	"""
	if module is None or not _PLACE.search(text):
		return text
	try:
		functions = _functions(module)
		places = sorted({place for place in map(_place, _PLACE.finditer(text)) if place[0] in functions})
		known = {}
		for section in {functions[name][0] for name, _ in places}:
			here = [place for place in places if functions[place[0]][0] == section]
			offsets = [functions[name][1] + offset for name, offset in here]
			known |= zip(here, _lines(module, section, offsets))
	except (OSError, subprocess.CalledProcessError):
		return text

	def shown(match):
		line = known.get(_place(match))
		return f'{match.group()} ({line})' if line else match.group()

	return _PLACE.sub(shown, text)


def _place(match):
	"""Return function and offset of the instruction that @match names. A return address is the address of the
	instruction after the call, so 1 is subtracted. Padding has no source line, so it stands for the start of its
	function."""
	if match.group(2).startswith(_PADDING):
		return match.group(2).removeprefix(_PADDING), 0
	offset = int(match.group(3), 16)
	return match.group(2), offset if match.group(1) else max(offset - 1, 0)


def _functions(module):
	"""Return the places at which the module's functions begin: {name: (section, offset in the section)}."""
	listed = subprocess.run(['nm', '-f', 'sysv', module], check=True, capture_output=True, text=True).stdout
	entries = ([field.strip() for field in line.split('|')] for line in listed.splitlines())
	return {entry[0]: (entry[6], int(entry[1], 16)) for entry in entries if len(entry) == 7 and entry[3] == 'FUNC' and entry[1]}


def _lines(module, section, offsets):
	"""Return the source line of each of the @offsets in @section, such as 'kmd/nvdla_job.c:12', or None for an
	unknown one."""
	words = [f'{offset:#x}' for offset in offsets]
	said = subprocess.run(['addr2line', '-j', section, '-e', module, *words], check=True, capture_output=True,
			      text=True).stdout
	found = [line.removeprefix(_BUILT_IN).split(' (')[0] for line in said.splitlines()]
	return [None if line.startswith('?') or line.endswith((':0', ':?')) else line for line in found]
