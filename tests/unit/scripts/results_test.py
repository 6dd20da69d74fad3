# SPDX-License-Identifier: MIT
"""Counting test results: no crash, no missing case and no stale file may pass for success."""

import json
import tempfile
import unittest
from pathlib import Path

from stack import results
from stack.results import FAILED, PASSED, SKIPPED

_GTEST = '''<?xml version="1.0"?>
<testsuites><testsuite name="S">
<testcase name="Good" status="run" result="completed"/>
<testcase name="Bad" status="run"><failure message="short">long
reason</failure></testcase>
<testcase name="Skipped" status="run" result="skipped"><skipped message="no data"/></testcase>
<testcase name="Off" status="notrun" result="suppressed"/>
</testsuite></testsuites>'''


def outcomes(cases):
	return {case.name: case.outcome for case in cases}


class GoogleTest(unittest.TestCase):
	def read(self, text):
		with tempfile.NamedTemporaryFile('w', suffix='.xml') as file:
			file.write(text)
			file.flush()
			return results.from_gtest(file.name, 'p')

	def test_the_reason_of_a_skip_comes_before_its_traces(self):
		text = '<skipped message="a.cpp:1&#x0A;set DATA&#x0A;Google Test trace:&#x0A;each_target.h:29: AVX2"/>'
		for case in (text, text.replace('/>', '><![CDATA[a.cpp:1\nset DATA\nGoogle Test trace:\neach_target.h:29: AVX2\n]]></skipped>')):
			cases = self.read(_GTEST.replace('<skipped message="no data"/>', case))
			self.assertIn('skipped: p.S.Skipped: set DATA', results.details(cases))

	def test_every_outcome(self):
		cases = self.read(_GTEST)
		self.assertEqual(outcomes(cases), {'p.S.Good': PASSED, 'p.S.Bad': FAILED, 'p.S.Skipped': SKIPPED,
						   'p.S.Off': SKIPPED})
		self.assertEqual(cases[1].message, 'long\nreason')
		self.assertEqual(cases[2].message, 'no data')

	def test_half_a_file_has_no_cases(self):
		self.assertEqual(self.read(_GTEST[:120]), [])

	def test_a_missing_file_has_no_cases(self):
		self.assertEqual(results.from_gtest('/nonexistent', 'p'), [])


class Tap(unittest.TestCase):
	def test_every_outcome(self):
		cases = results.from_tap('ok 1 - one\n# because\nnot ok 2 - two\nok 3 - three # SKIP why\n1..3\n', 'p')
		self.assertEqual(outcomes(cases), {'p.one': PASSED, 'p.two': FAILED, 'p.three': SKIPPED})
		self.assertEqual(cases[1].message, 'because')
		self.assertEqual(cases[2].message, 'why')

	def test_a_script_that_stops_early_fails(self):
		self.assertEqual(outcomes(results.from_tap('ok 1 - one\n', 'p'))['p.plan'], FAILED)
		self.assertEqual(outcomes(results.from_tap('1..2\nok 1 - one\n', 'p'))['p.plan'], FAILED)

	def test_output_of_programs_is_no_result(self):
		self.assertEqual(len(results.from_tap('okay\n ok 1 - indented\nok 1 - one\n1..1\n', 'p')), 1)

	def test_bail_out_fails(self):
		self.assertIn(FAILED, outcomes(results.from_tap('Bail out! no device\n1..0\n', 'p')).values())


class Meson(unittest.TestCase):
	def read(self, runs, junit=None):
		with tempfile.TemporaryDirectory() as folder:
			logs = Path(folder)
			(logs / 'testlog.json').write_text(''.join(json.dumps(run) + '\n' for run in runs))
			if junit:
				(logs / 'testlog.junit.xml').write_text(junit)
			return results.from_meson(logs)

	def test_plain_programs_are_one_case(self):
		cases = self.read([{'name': 'a', 'result': 'OK'}, {'name': 'b', 'result': 'FAIL', 'stdout': 'x'},
				   {'name': 'c', 'result': 'TIMEOUT'}, {'name': 'd', 'result': 'SKIP', 'stdout': 'why'}])
		self.assertEqual(outcomes(cases), {'a': PASSED, 'b': FAILED, 'c': FAILED, 'd': SKIPPED})

	def test_cases_of_google_test(self):
		junit = _GTEST.replace('name="S"', 'name="nvdla.unit.S"')
		cases = self.read([{'name': 'unit', 'result': 'FAIL'}], junit)
		self.assertEqual(outcomes(cases), {'unit.S.Good': PASSED, 'unit.S.Bad': FAILED,
						   'unit.S.Skipped': SKIPPED, 'unit.S.Off': SKIPPED})

	def test_a_crash_behind_good_cases_fails(self):
		junit = '<testsuites><testsuite name="nvdla.unit.S"><testcase name="Good"/></testsuite></testsuites>'
		cases = self.read([{'name': 'unit', 'result': 'FAIL', 'stdout': 'Segmentation fault'}], junit)
		self.assertEqual(outcomes(cases), {'unit.S.Good': PASSED, 'unit.program': FAILED})

	def test_names_that_begin_alike_are_kept_apart(self):
		junit = ('<testsuites><testsuite name="nvdla.unit.S"><testcase name="A"/></testsuite>'
			 '<testsuite name="nvdla.unit-more.S"><testcase name="B"/></testsuite></testsuites>')
		cases = self.read([{'name': 'unit', 'result': 'OK'}, {'name': 'unit-more', 'result': 'OK'}], junit)
		self.assertEqual(outcomes(cases), {'unit.S.A': PASSED, 'unit-more.S.B': PASSED})


class Summary(unittest.TestCase):
	def test_counts(self):
		cases = [results.Case('a', PASSED), results.Case('b', FAILED, 'x')]
		self.assertEqual(results.summary(cases), '1 passed, 1 failed')
		self.assertEqual(results.summary([*cases, results.Case('c', SKIPPED)]), '1 passed, 1 failed, 1 skipped')


if __name__ == '__main__':
	unittest.main()
