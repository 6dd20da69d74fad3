# SPDX-License-Identifier: MIT
"""The driver as scripts/upstream puts it into a kernel tree, compiled for the newest known kernel.

It is built as a module of its own with that kernel's packaged headers, as a stand-in for the kernel tree that
"scripts/upstream --check" takes: W=1 and sparse, all warnings being errors.
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

from stack import console, guest, kernels, kmod, upstream

_MADE = 'CONFIG_DRM_ACCEL_NVDLA := m\n' \
	'ccflags-y += -I$(src)/../include/uapi -I$(srctree)/include/uapi/drm\n'


class KernelForm(unittest.TestCase):
	def test_it_builds(self):
		found = guest.tree(console.say, kernels.known())
		series = [name for name in found.series() if name in kernels.known()][-1]
		with tempfile.TemporaryDirectory() as folder:
			source = Path(folder)
			for path, text in upstream.files('A Developer <developer@example.org>').items():
				if path.suffix in ('.c', '.h') or path.name == 'Makefile':
					path = Path('kmd', path.relative_to(upstream.DRIVER)) if upstream.DRIVER in path.parents else path
					(source / path).parent.mkdir(parents=True, exist_ok=True)
					(source / path).write_text(text)
			makefile = source / 'kmd/Makefile'
			(source / 'kmd/Kbuild').write_text(_MADE + makefile.read_text())
			makefile.unlink()
			module, = kmod.build(found, found.kernel(series), console.say, source, werror=True,
					     sparse=kmod.has_sparse(found), folder=source)
			self.assertGreater(module.stat().st_size, 0)


if __name__ == '__main__':
	if 'NVDLA_QEMU' not in os.environ:
		print('no guest is asked for: scripts/test without --quick runs this')
		sys.exit(77)
	unittest.main()
