# SPDX-License-Identifier: MIT
"""Paths of the checkout, its build directory, the cache and the reference data."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# File with the functions of the shell scripts.
COMMON = ROOT / 'scripts' / 'lib' / 'common.sh'
EXAMPLE_PICTURE = ROOT / 'umd' / 'examples' / 'chelsea.png'
EXAMPLE_MODEL = ROOT / 'umd' / 'examples' / 'digits'


def project_version():
	"""Return the project's version, which is in meson.build."""
	return re.search(r"^\s*version: '([^']+)'", (ROOT / 'meson.build').read_text(), re.MULTILINE).group(1)


def build_dir():
	"""Return the Meson build directory: $NVDLA_BUILD_DIR, or build/ in the checkout."""
	return Path(os.environ.get('NVDLA_BUILD_DIR') or ROOT / 'build').absolute()


def cache_dir():
	"""Return the folder for files that several checkouts share and that outlive them: $XDG_CACHE_HOME/nvdla or
	~/.cache/nvdla."""
	base = os.environ.get('XDG_CACHE_HOME')
	return (Path(base) if base else Path.home() / '.cache') / 'nvdla'


def reference_data():
	"""Return the folder of the reference data (recorded results of the hardware, for tests), or None if there is
	none.

	It is $NVDLA_REFERENCE_DATA, or else the folder "shared" beside the checkout.
	"""
	named = os.environ.get('NVDLA_REFERENCE_DATA')
	path = Path(named) if named else ROOT.parent / 'shared'
	return path.resolve() if path.is_dir() else None
