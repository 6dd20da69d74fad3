# SPDX-License-Identifier: MIT
"""scripts/upstream: what the patches make of a kernel tree of which there is little more than what they change."""

import graphlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from stack import checkpatch, kernel_form, upstream, upstream_check
from stack.console import Failure
from stack.paths import ROOT

_TREE = {
	'MAINTAINERS': 'AN EARLIER DRIVER\nM:\tSomebody <s@example.org>\n\nOTHER DRIVER\nM:\tSomebody <s@example.org>\n',
	'drivers/accel/Kconfig': 'source "drivers/accel/ivpu/Kconfig"\nsource "drivers/accel/qaic/Kconfig"\n',
	'drivers/accel/Makefile': 'obj-$(CONFIG_DRM_ACCEL_IVPU)\t\t+= ivpu/\nobj-$(CONFIG_DRM_ACCEL_QAIC)\t\t+= qaic/\n',
	'Documentation/accel/index.rst': '.. toctree::\n\n   amdxdna/index\n   qaic/index\n   rocket/index\n',
	'Documentation/devicetree/bindings/vendor-prefixes.yaml':
		'  "^nvd,.*":\n    description: One\n  "^nxp,.*":\n    description: Another\n',
}
_DRIVER = Path('drivers/accel/nvdla')


def make_tree(folder):
	"""Make the tree in @folder, as a git work tree."""
	for name, text in _TREE.items():
		(folder / name).parent.mkdir(parents=True, exist_ok=True)
		(folder / name).write_text(text)
	for arguments in (['init', '-q'], ['config', 'user.name', 'A Developer'],
			  ['config', 'user.email', 'developer@example.org'], ['add', '-A'], ['commit', '-q', '-m', 'before']):
		subprocess.run(['git', '-C', folder, *arguments], check=True)


class Upstream(unittest.TestCase):
	@classmethod
	def setUpClass(cls):
		folder = tempfile.TemporaryDirectory()
		cls.addClassCleanup(folder.cleanup)
		cls.tree, cls.output = Path(folder.name, 'linux'), Path(folder.name, 'patches')
		make_tree(cls.tree)
		cls.changed = upstream.make(cls.tree, cls.output)
		cls.how = upstream.apply(cls.tree, cls.output, cls.changed)
		cls.driver = {path.relative_to(cls.tree / _DRIVER).as_posix(): path.read_text()
			      for path in (cls.tree / _DRIVER).rglob('*') if path.is_file()}
		cls.sources = {name: text for name, text in cls.driver.items() if name.endswith(('.c', '.h'))}

	def test_patches_are_commits_of_a_git_tree(self):
		self.assertEqual(self.how, 'as commits')
		for path, text in self.changed.items():
			self.assertEqual((self.tree / path).read_text(), text, path)
		log = subprocess.run(['git', '-C', self.tree, 'log', '--format=%an <%ae>%n%b', '-1'], capture_output=True,
				     text=True).stdout
		self.assertIn('Signed-off-by: A Developer <developer@example.org>', log)

	def test_nothing_of_older_kernels_and_of_user_space_is_left(self):
		for name, text in self.sources.items():
			self.assertNotRegex(text, r'nvdla_compat|NVDLA_HAVE|__KERNEL__|__cplusplus|nvdla/hw|nvdla_platform\.h', name)
		self.assertIn('stat = DRM_GPU_SCHED_STAT_NO_HANG;', self.sources['nvdla_sched.c'])
		self.assertFalse([name for name in self.driver if 'compat' in name])

	def test_own_headers_are_there(self):
		for name, text in self.sources.items():
			for header in re.findall(r'#include "([^"]+)"', text):
				self.assertTrue((self.tree / _DRIVER / name).parent.joinpath(header).is_file(), f'{name}: {header}')
		for name in kernel_form.public_headers(ROOT):
			self.assertTrue((self.tree / 'include/uapi/drm' / name).is_file())

	def test_no_two_parts_need_each_other(self):
		parts = {}
		for name, text in self.sources.items():
			if '/' not in name:
				needs = {Path(header).stem for header in re.findall(r'#include "([^"]+)"', text)}
				parts.setdefault(Path(name).stem, set()).update(needs - {Path(name).stem})
		# An error names the circle: source files of one name are a part, and need what they include.
		self.assertIn('nvdla_hw', graphlib.TopologicalSorter(parts).static_order())

	def test_every_source_is_built(self):
		built = set(re.findall(r'\S+\.o\b', self.driver['Makefile'].replace('nvdla.o', '').replace('CFLAGS_nvdla_trace.o', '')))
		self.assertEqual({name.replace('.c', '.o') for name in self.sources if name.endswith('.c')}, built)

	def test_options_are_defined(self):
		text = self.driver['Makefile'] + ''.join(self.sources.values()) + self.driver['.kunitconfig']
		used = set(re.findall(r'CONFIG_(DRM_ACCEL_NVDLA\w*)', text))
		self.assertEqual(set(re.findall(r'^config (\w+)$', self.driver['Kconfig'], re.MULTILINE)), used)

	def test_lists_keep_their_order(self):
		for name in ('drivers/accel/Kconfig', 'drivers/accel/Makefile'):
			lines = (self.tree / name).read_text().splitlines()
			self.assertEqual(len(lines), 3)
			self.assertIn('nvdla', lines[1], name)
		self.assertLess((self.tree / 'MAINTAINERS').read_text().index('NVDLA'),
				(self.tree / 'MAINTAINERS').read_text().index('OTHER DRIVER'))

	def test_maintainers_are_who_signs_off(self):
		for path in (self.tree / 'Documentation/devicetree/bindings/npu').glob('*.yaml'):
			self.assertIn('A Developer <developer@example.org>', path.read_text())

	def test_files_that_every_patch_changes_are_maintained(self):
		listed = re.findall(r'^F:\t(.*)$', (self.tree / 'MAINTAINERS').read_text(), re.MULTILINE)
		for path in self.changed:
			if str(path) not in _TREE:
				self.assertTrue(any(path.match(entry) or str(path).startswith(entry) for entry in listed), path)

	def test_what_is_no_kernel_tree_is_refused(self):
		with self.assertRaisesRegex(Failure, 'has no MAINTAINERS: name the top folder of a Linux source tree'):
			upstream.make(ROOT / 'kmd', self.output)
		with self.assertRaisesRegex(Failure, 'is there already: take a tree without it'):
			upstream.make(self.tree, self.output)

	def test_what_nobody_resolves_is_refused(self):
		with self.assertRaisesRegex(Failure, r'x\.c:2 still has "NVDLA_HAVE_".*kernel_form\.py'):
			kernel_form.checked('x.c', 'int i;\n#ifdef NVDLA_HAVE_THAT\n')

	def test_checkpatch_has_nothing_to_say(self):
		said = checkpatch.messages(sorted(self.output.glob('*.patch')), upstream_check.SETTINGS)
		if said is None:
			self.skipTest('no checkpatch.pl: scripts/kernel-debug brings it')
		self.assertEqual(said, '')


if __name__ == '__main__':
	if not shutil.which('git'):
		print('no git, which makes patches')
		sys.exit(77)
	unittest.main()
