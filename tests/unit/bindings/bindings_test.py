# SPDX-License-Identifier: MIT
"""The device tree bindings: valid, with an example that compiles, and what the driver asks for."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

_ROOT = Path(os.environ['NVDLA_SOURCE_ROOT'])
_BINDINGS = _ROOT / 'Documentation' / 'devicetree' / 'bindings'
_TREES = _ROOT / 'tests' / 'devicetree'
_BINDING = _BINDINGS / 'npu' / 'nvdla,nv-full.yaml'
_DRIVER = (_ROOT / 'kmd' / 'nvdla_platform.c').read_text()

# What surrounds an example, where its other references stay open, and the headers' constants.
_FRAME = '''/dts-v1/;
/plugin/;
/ {{
	controller: interrupt-controller {{
		interrupt-controller;
		#address-cells = <0>;
		#interrupt-cells = <3>;
	}};
	example {{
		interrupt-parent = <&controller>;
		#address-cells = <1>;
		#size-cells = <1>;
{0}
	}};
}};
'''
_CONSTANTS = {'GIC_SPI': '0', 'IRQ_TYPE_LEVEL_HIGH': '4'}


def _tool(name):
	path = shutil.which(name)
	if not path:
		raise unittest.SkipTest(f'there is no {name}: it is in the packages dt-schema and device-tree-compiler')
	return path


class Binding(unittest.TestCase):
	@classmethod
	def setUpClass(cls):
		cls.binding = yaml.safe_load(_BINDING.read_text())

	def test_is_valid(self):
		# Paths are taken relative to the folder it is run in.
		run = subprocess.run([_tool('dt-doc-validate'), '-u', '.', str(_BINDING.relative_to(_BINDINGS))],
				     cwd=_BINDINGS, capture_output=True, text=True)
		self.assertEqual((run.returncode, run.stdout + run.stderr), (0, ''))

	def test_its_name_is_its_id(self):
		self.assertEqual(self.binding['$id'],
				 f'http://devicetree.org/schemas/{_BINDING.relative_to(_BINDINGS)}#')

	def compile(self, example, blob):
		"""Compile an example to the file @blob."""
		source = re.sub(r'^#include.*$', '', example, flags=re.MULTILINE)
		for name, value in _CONSTANTS.items():
			source = re.sub(rf'\b{name}\b', value, source)
		run = subprocess.run([_tool('dtc'), '-I', 'dts', '-O', 'dtb', '-o', blob, '-'],
				     input=_FRAME.format(source), capture_output=True, text=True)
		self.assertEqual((run.returncode, run.stderr), (0, ''))

	def complaints(self, example):
		"""What dt-validate says of an example, as far as this binding is concerned."""
		with tempfile.TemporaryDirectory() as folder:
			blob = Path(folder, 'example.dtb')
			self.compile(example, blob)
			run = subprocess.run([_tool('dt-validate'), '-s', _BINDING.parent, blob],
					     capture_output=True, text=True)
		self.assertNotIn('Traceback', run.stderr)
		return [line for line in (run.stdout + run.stderr).splitlines() if 'npu@' in line or 'nvdla@' in line]

	def test_its_examples_follow_it(self):
		for example in self.binding['examples']:
			self.assertEqual(self.complaints(example), [])

	def test_what_does_not_follow_it_is_found(self):
		example = self.binding['examples'][0]
		for right, wrong in (('"core", "csb"', '"axi", "csb"'), ('sram =', 'cvsram ='),
				     ('interrupts =', 'interrupt =')):
			self.assertNotEqual(self.complaints(example.replace(right, wrong)), [], wrong)

	def test_trees_of_machines_follow_it(self):
		"""As far as they do: what was made for another driver says more, or less."""
		violations = {'esp': ['reg-io-width', 'reg-shift'], 'cheshire': ['compatible'], 'zcu102': ['clock-names']}
		sources = sorted(_TREES.glob('*.dts'))
		with tempfile.TemporaryDirectory() as folder:
			blobs = [Path(folder, f'{source.stem}.dtb') for source in sources]
			for source, blob in zip(sources, blobs):
				text = source.read_text().replace('/plugin/;', '').replace('&{/}', '/')
				subprocess.run([_tool('dtc'), '-q', '-I', 'dts', '-O', 'dtb', '-o', blob, '-'], input=text,
					       text=True, check=True)
			run = subprocess.run([_tool('dt-validate'), '-s', _BINDING.parent, *blobs], capture_output=True, text=True)
		said = [line for line in (run.stdout + run.stderr).splitlines() if 'nvdla@' in line]
		for source in sources:
			lines = [line for line in said if f'{source.stem}.dtb' in line]
			for name in violations.get(source.stem, []):
				self.assertTrue(any(name in line for line in lines), f'{source.stem}: {name} is not found')
			others = [line for line in lines if not any(name in line for name in violations.get(source.stem, []))]
			self.assertEqual(others, [])

	def test_each_tree_is_of_a_machine_that_is_tested(self):
		lines = (line.split('#')[0].split() for line in (_TREES / 'machines.list').read_text().splitlines())
		self.assertEqual(sorted(words[0] for words in lines if words), sorted(path.stem for path in _TREES.glob('*.dts')))

	def test_the_driver_knows_its_compatibles(self):
		named = set(self.binding['properties']['compatible']['enum'])
		self.assertEqual(named, set(re.findall(r'\.compatible = "([^"]+)"', _DRIVER)))

	def test_the_driver_knows_the_clock_of_the_engines(self):
		named = self.binding['properties']['clock-names']['contains']['const']
		self.assertIn(f'"{named}"', _DRIVER)

	def test_the_driver_finds_its_memory(self):
		self.assertIn('sram', self.binding['properties'])
		self.assertEqual(['sram'], re.findall(r'fwnode_find_reference\([^"]*"([^"]+)"', _DRIVER))

	def test_what_the_driver_needs_is_required(self):
		self.assertEqual({'compatible', 'reg', 'interrupts'}, set(self.binding['required']))


if __name__ == '__main__':
	unittest.main()
