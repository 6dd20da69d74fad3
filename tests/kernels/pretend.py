# SPDX-License-Identifier: MIT
"""Pretends that there is a kernel newer than all known ones, for which the driver does not build.

It is the newest kernel of the guest tree under another name, with its headers, of which one function
that the driver calls is missing. By hand:

	PYTHONPATH=scripts/lib python3 tests/kernels/pretend.py /tmp/newer
	NVDLA_KERNEL=/tmp/newer scripts/run
	NVDLA_KERNEL=/tmp/newer scripts/test --kernel 999.0 smoke
"""

import os
import re
import shutil
import sys
from pathlib import Path

from stack import console, guest

RELEASE = '999.0.0-pretended'
SERIES = '999.0'
_HEADER = Path('include/drm/gpu_scheduler.h')
MISSING = 'drm_sched_entity_init'


def _copy(source, target, inside):
	"""Copy the folder @source, which is @inside when modules are built: its links stay what they are there."""
	shutil.copytree(source, target, symlinks=True)
	for link in [path for path in target.rglob('*') if path.is_symlink()]:
		place = os.path.join(inside, link.parent.relative_to(target), os.readlink(link))
		link.unlink()
		link.symlink_to(os.path.normpath(place))


def make(folder):
	"""Make the kernel in the new @folder, to be named by $NVDLA_KERNEL; returns the folder."""
	found = guest.tree(console.say)
	kernel = found.kernel()
	headers = folder / 'headers'
	(folder / 'lib/modules').mkdir(parents=True)
	(folder / 'lib/modules' / RELEASE).symlink_to(kernel.modules)
	(folder / 'vmlinuz').symlink_to(kernel.image)
	_copy(found.root / kernel.build.relative_to('/'), headers, kernel.build)
	inside = guest.kernel_in(folder, found.root).build
	makefile = headers / 'Makefile'
	common = re.search(r'^include (/\S+)/Makefile$', makefile.read_text(), re.MULTILINE).group(1)
	_copy(found.root / common.lstrip('/'), headers / 'common', common)
	makefile.write_text(f'KBUILD_OUTPUT={inside}\ninclude {inside}/common/Makefile\n')
	text = (headers / 'common' / _HEADER).read_text()
	if not re.search(fr'\b{MISSING}\(', text):
		raise console.Failure(f'{_HEADER} of {kernel.release} has no {MISSING}(): name another in {__file__}')
	(headers / 'common' / _HEADER).write_text(re.sub(fr'\b{MISSING}\(', f'{MISSING}_anew(', text))
	return folder


def main():
	if len(sys.argv) != 2 or os.path.exists(sys.argv[1]):
		raise console.Failure(f'usage: {Path(__file__).name} DIR, a folder that is not there yet')
	print(make(Path(sys.argv[1]).absolute()))
	return 0


if __name__ == '__main__':
	console.run_program(main)
