# SPDX-License-Identifier: MIT
"""Reads the results of GoogleTest, TAP and Meson as one list of cases, and sums them up."""

import dataclasses
import difflib
import fnmatch
import json
import re
import xml.etree.ElementTree as xml

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'


@dataclasses.dataclass(frozen=True)
class Case:
	"""Result of one test case. @message: reason why the case failed or was skipped."""

	name: str
	outcome: str
	message: str = ''


def _case(prefix, element):
	"""Convert a <testcase> of GoogleTest or Meson to a Case."""
	name = f'{prefix}.{element.get("name")}'
	failures = [*element.findall('failure'), *element.findall('error')]
	if failures:
		return Case(name, FAILED, '\n'.join(_message(failure) for failure in failures))
	skipped = element.find('skipped')
	if skipped is not None:
		return Case(name, SKIPPED, _message(skipped))
	if element.get('status') == 'notrun':
		return Case(name, SKIPPED, 'disabled')
	return Case(name, PASSED)


def _message(element):
	text = (element.text or '').strip() or (element.get('message') or '').strip()
	# GoogleTest adds the traces (SCOPED_TRACE) to the reason why a test was skipped, of which the last line is told.
	return text.partition('\nGoogle Test trace:')[0].strip() if element.tag == 'skipped' else text


def from_gtest(path, prefix):
	"""Return the cases in a file that --gtest_output=xml wrote; [] if the file is missing or incomplete."""
	try:
		root = xml.parse(path).getroot()
	except (OSError, xml.ParseError):
		return []
	return [_case(f'{prefix}.{suite.get("name")}', case)
		for suite in root.iter('testsuite') for case in suite.findall('testcase')]


def from_tap(text, prefix):
	"""Return the cases in TAP (test anything protocol): "ok 1 - name", "not ok 2 - name", "ok 3 - name # SKIP
	why"."""
	cases = []
	planned = None
	notes = []
	for line in text.splitlines():
		plan = re.match(r'1\.\.(\d+)\s*$', line)
		result = re.match(r'(not )?ok\b\s*\d*\s*-?\s*([^#]*?)\s*(?:#\s*(SKIP)\b\s*(.*))?$', line, re.IGNORECASE)
		if plan:
			planned = int(plan.group(1))
		elif result:
			failed, name, skip, why = result.groups()
			name = f'{prefix}.{name or len(cases) + 1}'
			if skip:
				cases.append(Case(name, SKIPPED, why))
			elif failed:
				cases.append(Case(name, FAILED, '\n'.join(notes)))
			else:
				cases.append(Case(name, PASSED))
			notes = []
		elif line.startswith('#'):
			notes.append(line[1:].strip())
		elif line.startswith('Bail out!'):
			cases.append(Case(f'{prefix}.bail-out', FAILED, line))
	if planned is None:
		cases.append(Case(f'{prefix}.plan', FAILED, 'the test never said how many cases it has'))
	elif planned != len(cases):
		cases.append(Case(f'{prefix}.plan', FAILED, f'{planned} cases were planned, {len(cases)} reported'))
	return cases


def from_meson(logs):
	"""Return the cases of the last "meson test" that wrote to the folder @logs.

	Each case of a GoogleTest program becomes a Case. If the program's exit status is a failure
	although all its cases passed, it crashed, and one failed Case is added. Any other program
	becomes one Case.
	"""
	suites = {}
	junit = logs / 'testlog.junit.xml'
	if junit.is_file():
		for suite in xml.parse(junit).getroot().iter('testsuite'):
			suites.setdefault(suite.get('name'), []).append(suite)
	cases = []
	for line in (logs / 'testlog.json').read_text().splitlines():
		run = json.loads(line)
		cases += _from_meson_run(run, suites)
	return cases


def _from_meson_run(run, suites):
	name, result = run['name'], run['result']
	if result in ('SKIP', 'IGNORED'):
		return [Case(name, SKIPPED, _last_line(run))]
	good = result in ('OK', 'EXPECTEDFAIL')
	# Meson's XML file calls a suite of a GoogleTest program PROJECT.TEST.SUITE. The suites of other
	# tests have other names and match nothing here; such a test becomes one case.
	found = []
	for title, parts in suites.items():
		before, _, suite = title.rpartition('.')
		if before.partition('.')[2] == name:
			found += [_case(f'{name}.{suite}', case) for part in parts for case in part.findall('testcase')]
	if not found:
		return [Case(name, PASSED if good else FAILED, '' if good else f'{result}\n{_output(run)}')]
	if not good and not any(case.outcome == FAILED for case in found):
		found.append(Case(f'{name}.program', FAILED, f'{result}, with every reported case passed\n{_output(run)}'))
	return found


def _output(run):
	lines = (run.get('stdout') or '').splitlines() + (run.get('stderr') or '').splitlines()
	return '\n'.join(lines[-20:])


def _last_line(run):
	lines = (run.get('stdout') or run.get('stderr') or '').strip().splitlines()
	return lines[-1] if lines else ''


def chooser(filters):
	"""Return a function that says for the name of a test whether the user chose it. @filters: parts of names, or
	patterns with *; without any, all tests are chosen."""

	def chosen(name):
		return not filters or any(fnmatch.fnmatch(name, part if '*' in part else f'*{part}*') for part in filters)

	return chosen


def nearest(part, names):
	"""Return at most three of @names that resemble @part, as a whole or in their part behind the last dot."""
	words = {word: name for name in reversed(names) for word in (name.rpartition('.')[2], name)}
	return list(dict.fromkeys(words[word] for word in difflib.get_close_matches(part, words, 3)))


def summary(cases):
	"""Return the last line of a test run: "N passed, N failed", and the number of skipped cases if there are
	any."""
	count = {outcome: sum(case.outcome == outcome for case in cases) for outcome in (PASSED, FAILED, SKIPPED)}
	text = f'{count[PASSED]} passed, {count[FAILED]} failed'
	return text + (f', {count[SKIPPED]} skipped' if count[SKIPPED] else '')


def details(cases):
	"""Return lines with the failed cases and their reasons, and with the reasons of skipped cases."""
	lines = []
	reasons = {}
	for case in cases:
		if case.outcome == SKIPPED:
			reasons.setdefault(case.message.splitlines()[-1] if case.message else 'no reason given', []).append(case)
	for reason, skipped in reasons.items():
		more = f' and {len(skipped) - 1} more' if len(skipped) > 1 else ''
		lines.append(f'skipped: {skipped[0].name}{more}: {reason}')
	for case in cases:
		if case.outcome == FAILED:
			lines.append(f'FAILED: {case.name}')
			lines += [f'    {line}' for line in case.message.splitlines()[:25]]
	return lines
