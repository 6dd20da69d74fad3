# SPDX-License-Identifier: MIT
"""scripts/run: options that would have no effect are refused by their names."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from stack import console, run


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

	def test_files_that_cannot_be(self):
		"""Said before anything is built, and nothing is made."""
		with tempfile.TemporaryDirectory() as name:
			folder = Path(name)
			text, tflite, onnx = folder / 'README.md', folder / 'm.tflite', folder / 'm.onnx'
			text.write_text('# Text\n')
			tflite.write_bytes(b'\x1c\x00\x00\x00TFL3')
			onnx.write_bytes(b'\x12\x01')
			for words, why in ((('--model', text), 'is not a TensorFlow Lite or ONNX model'),
					   (('--model', folder / 'none.onnx'), 'is not there'),
					   (('--picture', text), 'is not a PNG'),
					   (('--model', tflite, '--labels', folder / 'none'), 'is not there'),
					   (('--output', folder / 'e.jpg'), 'e.png'),
					   (('--output', folder / 'none' / 'e.png'), 'there is no folder')):
				with self.subTest(words), self.assertRaisesRegex(console.Failure, why) as failed:
					run.check_files(run.parse(list(map(str, words))))
				self.assertEqual(failed.exception.status, 2)
			for words in ((), ('--model', tflite), ('--model', onnx), ('--output', folder / 'e.png')):
				run.check_files(run.parse(list(map(str, words))))
			self.assertEqual(len(list(folder.iterdir())), 3)


if __name__ == '__main__':
	unittest.main()
