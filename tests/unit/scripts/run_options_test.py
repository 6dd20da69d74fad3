# SPDX-License-Identifier: MIT
"""scripts/run: options that would have no effect are refused by their names."""

import contextlib
import io
import unittest

from stack import run


class RunOptions(unittest.TestCase):
	def refusal(self, *words):
		said = io.StringIO()
		with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
			run.parse(words)
		self.assertEqual(ended.exception.code, 2)
		return said.getvalue()

	def test_without_effect(self):
		for words in (('--kernel', '7.3', '--device', 'embedded'), ('--labels', 'names.txt'), ('--top', '3'),
			      ('--mean', '1,2,3'), ('--normalize', '255'), ('--output', 'x.png', '--model', 'm.onnx')):
			with self.subTest(words):
				self.assertIn(f'{words[0]} has no effect without', self.refusal(*words))

	def test_with_effect(self):
		self.assertEqual(run.parse([]).output.name, 'edges.png')
		self.assertEqual(run.parse(['--kernel', '7.3']).kernel, '7.3')
		found = run.parse(['--model', 'm.onnx', '--labels', 'names.txt', '--mean', '1', '--normalize', '2'])
		self.assertEqual((found.top, found.normalize), (3, '2'))


if __name__ == '__main__':
	unittest.main()
