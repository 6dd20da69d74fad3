# SPDX-License-Identifier: MIT
"""What type checkers are told is what there is: stubs of the part in C++, annotations of the rest."""

import ast
import inspect
import os
from pathlib import Path

import pytest

import nvdla
from nvdla import _nvdla

_STUB = Path(os.environ['NVDLA_SOURCE_ROOT']) / 'umd/frameworks/python/nvdla/_nvdla.pyi'


def stubs():
	"""Names of the stub, with those of classes in front of what they have, and how many arguments each takes."""
	found = {}
	for node in ast.parse(_STUB.read_text()).body:
		if isinstance(node, ast.AnnAssign):
			found[node.target.id] = None
		elif isinstance(node, ast.FunctionDef):
			found[node.name] = len(node.args.args)
		elif isinstance(node, ast.ClassDef):
			found[node.name] = None
			for entry in node.body:
				if isinstance(entry, ast.AnnAssign):
					found[f'{node.name}.{entry.target.id}'] = None
				elif isinstance(entry, ast.FunctionDef):
					is_property = any(getattr(one, 'id', '') == 'property' for one in entry.decorator_list)
					found[f'{node.name}.{entry.name}'] = None if is_property else len(entry.args.args)
	return found


def arguments(function):
	"""pybind11 says the signature in the first line of the docstring."""
	if not getattr(function, '__doc__', None) or '(' not in function.__doc__:
		return None
	inside = function.__doc__.split('(', 1)[1].split(') ->', 1)[0]
	return inside.count(': ')


def there():
	found = {}
	for name, value in vars(_nvdla).items():
		if name.startswith('_'):
			continue
		found[name] = None if isinstance(value, (type, str)) else arguments(value)
		if not isinstance(value, type):
			continue
		for member, entry in vars(value).items():
			if member == '__init__' and value.__init__.__doc__ and '(' not in value.__init__.__doc__:
				continue
			if member.startswith('_') and member != '__init__' or member == '_pybind11_conduit_v1_':
				continue
			is_plain = isinstance(entry, property)
			found[f'{name}.{member}'] = None if is_plain else arguments(getattr(value, member))
	return found


def test_the_stub_is_of_what_there_is():
	written, real = stubs(), there()
	assert {name for name in real if not name.endswith('__init__')} == {name for name in written if not name.endswith('__init__')}
	for name, count in real.items():
		if count is not None and name in written:
			assert written[name] == count, name


def public():
	"""Everything that applications use, with its name."""
	for name in nvdla.__all__:
		value = getattr(nvdla, name)
		yield name, value
		if inspect.isclass(value) and not issubclass(value, Exception):
			yield from ((f'{name}.{member}', entry) for member, entry in vars(value).items()
				    if inspect.isfunction(entry) and not member.startswith('_'))


@pytest.mark.parametrize('name, value', public())
def test_everything_is_described(name, value):
	assert value.__doc__, name
	if inspect.isfunction(value):
		parameters = [one for one in inspect.signature(value).parameters.values() if one.name != 'self']
		assert all(one.annotation is not one.empty for one in parameters), name
		assert inspect.signature(value).return_annotation is not inspect.Signature.empty, name


def test_the_version():
	assert nvdla.__version__.split('.')[0].isdigit()
