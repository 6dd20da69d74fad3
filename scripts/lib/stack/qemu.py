# SPDX-License-Identifier: MIT
"""scripts/qemu: becomes (exec) the QEMU that scripts use for the guest, with the given arguments."""

import os
import sys

from . import console, guest


_HELP = '''\
scripts/qemu starts the QEMU of the guest (the virtual machine of scripts/vm), which is this
machine's or the one that scripts/setup unpacked, with the given arguments. All options are QEMU's,
--version, too, and so is the exit status. The rest of this text is QEMU's own help.
Example: scripts/qemu -version

'''


def main():
	if '--help' in sys.argv[1:]:
		print(_HELP, end='', flush=True)
	found = guest.find()
	os.execvpe(found.qemu[0], [*found.qemu, *sys.argv[1:]], found.environment)


if __name__ == '__main__':
	console.run_program(main)
