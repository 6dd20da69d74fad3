# SPDX-License-Identifier: MIT
"""Runs checkpatch.pl, the kernel's check of style."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from . import debug_kernel


def _find():
	"""Return the path of checkpatch.pl, or None. It is part of a kernel's source, not of the packages with its
	headers."""
	packaged = debug_kernel.path() / 'tools' / 'checkpatch.pl'
	found = packaged if packaged.is_file() else shutil.which('checkpatch.pl')
	return Path(found) if found else None


def messages(words, settings, tool=None):
	"""Return the messages of checkpatch --strict, '' if there are none; None if there is no checkpatch.pl.

	@words: patches, or -f and sources. @settings: file that lists the disabled checks.
	@tool: path of the checkpatch.pl to use.
	"""
	tool = tool or _find()
	if not tool or not tool.is_file():
		return None
	# Run checkpatch in a temporary folder, because it reads its settings from the working directory and leaves a
	# file there.
	with tempfile.TemporaryDirectory() as folder:
		shutil.copy(settings, Path(folder) / '.checkpatch.conf')
		ran = subprocess.run(['perl', str(tool), '--no-tree', '--strict', '--terse', '--show-types', '--no-summary',
				      *map(str, words)], cwd=folder, capture_output=True, text=True)
	return ran.stdout.strip() or (ran.stderr.strip() if ran.returncode else '')
