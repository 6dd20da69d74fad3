# SPDX-License-Identifier: MIT
"""The types of nvdla.h, as compiled applications know them: members and where they lie, enumerators, signatures.

The header is held against umd/install/libnvdla.abi; `abi_test.py COMPILER SOURCE --record` writes that file anew.
Sizes are those of 64-bit systems.
"""

import difflib
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER, SOURCE = sys.argv[1].split(), Path(sys.argv[2])
HEADER = SOURCE / 'umd/include/nvdla/nvdla.h'
RECORD = SOURCE / 'umd/install/libnvdla.abi'
ABOUT = '''# SPDX-License-Identifier: MIT
# The interface of libnvdla.so.0 as applications are compiled with it. Structs may grow at their ends, enums and functions
# become more; what is here stays as it is as long as the soname does. tests/install/abi_test.py --record writes it.
'''


def interface():
	"""Text of the header and of those that it includes at its end."""
	text = ''.join(HEADER.with_name(name).read_text() for name in ('nvdla.h', 'nvdla_model.h', 'nvdla_report.h'))
	return re.sub(r'^#include <nvdla/.*$', '', text, flags=re.MULTILINE)


def plain(text):
	"""A declaration with single blanks."""
	return re.sub(r'\s+', ' ', text).strip()


def parse(header):
	"""The header's enums (name, enumerators), structs (name, [(type, member, count)]) and other declarations."""
	text = re.sub(r'/\*.*?\*/', '', header, flags=re.DOTALL)
	text = re.sub(r'^#.*$', '', text, flags=re.MULTILINE)
	enums = [(name, re.findall(r'\b(NVDLA_\w+)', body)) for name, body in re.findall(r'enum (\w+) \{(.*?)\};', text, re.DOTALL)]
	structs = []
	for name, body in re.findall(r'struct (\w+) \{(.*?)\};', text, re.DOTALL):
		members = [re.fullmatch(r'(.*?)\s*(\w+)\s*((?:\[\w+\])?)', plain(one)).groups() for one in body.split(';') if one.strip()]
		structs.append((name, members))
	text = re.sub(r'(?:enum|struct) \w+ \{.*?\};', '', text, flags=re.DOTALL)
	text = text.replace('extern "C" {', '').replace('}', '')
	return enums, structs, sorted(plain(one) for one in text.split(';') if '(' in one)


def describe(header):
	"""The interface as text, a line for each thing; the compiler says where members lie."""
	enums, structs, declarations = parse(header)
	lines = ['#include <stdio.h>', header, 'int main(void) {']
	for name, enumerators in enums:
		lines += [f'printf("enum {name} {one} = %d\\n", (int){one});' for one in enumerators]
	for name, members in structs:
		lines.append(f'printf("struct {name}: %zu bytes\\n", sizeof(struct {name}));')
		for kind, member, count in members:
			lines.append(f'printf("struct {name} at %zu: {kind} {member}{count}, %zu bytes\\n", '
				     f'offsetof(struct {name}, {member}), sizeof(((struct {name} *)0)->{member}));')
	lines.append('return 0; }')
	with tempfile.TemporaryDirectory() as folder:
		program = Path(folder) / 'layout'
		program.with_suffix('.c').write_text('\n'.join(lines))
		subprocess.run([*COMPILER, program.with_suffix('.c'), '-o', program], check=True)
		said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
	return ABOUT + said + ''.join(f'{one}\n' for one in declarations)


class Abi(unittest.TestCase):
	def test_is_what_was_recorded(self):
		before, now = RECORD.read_text(), describe(interface())
		changes = [line for line in difflib.unified_diff(before.splitlines(), now.splitlines(), 'recorded', 'nvdla.h', n=0, lineterm='')]
		self.assertEqual(changes, [], '\n' + '\n'.join(changes) + '\nWhat was added at an end is recorded by --record; '
				 'anything else takes another soname')

	def test_every_struct_begins_with_its_size(self):
		for name, members in parse(interface())[1]:
			with self.subTest(name):
				self.assertEqual(members[0], ('size_t', 'size', ''))

	def test_no_struct_has_one_of_the_drivers(self):
		"""task.h is about the driver's descriptors, and no other header needs it."""
		for path in HEADER.parent.glob('*.h'):
			with self.subTest(path.name):
				text = re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.DOTALL)
				self.assertNotRegex(text, r'\bdrm_nvdla_|\bDRM_NVDLA_|<nvdla/task\.h>')
				self.assertEqual(re.findall(r'<(drm/.*)>', text), ['drm/nvdla_descriptors.h'] if path.name == 'task.h' else [])

	def test_changes_are_seen(self):
		header = interface()
		known = describe(header)
		for before, after in ((r'\tuint32_t hw_version;\n(\tuint32_t atom_bytes;.*\n)', r'\1\tuint32_t hw_version;\n'),
				      (r'uint32_t max_queued;', 'uint64_t max_queued;'),
				      (r'\tNVDLA_STATUS_IO,', '\tNVDLA_STATUS_NEW,\n\tNVDLA_STATUS_IO,'),
				      (r'nvdla_buffer_size\(const struct', 'nvdla_buffer_size(struct')):
			with self.subTest(before):
				changed, count = re.subn(before, after, header)
				self.assertEqual(count, 1)
				self.assertNotEqual(describe(changed), known)


if __name__ == '__main__':
	if sys.argv[3:] == ['--record']:
		RECORD.write_text(describe(interface()))
	else:
		unittest.main(argv=sys.argv[:1])
