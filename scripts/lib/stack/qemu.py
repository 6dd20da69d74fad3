# SPDX-License-Identifier: MIT
"""scripts/qemu: replaces itself by the guest's QEMU, with the given arguments."""

import os
import sys

from . import console, guest


def main():
	found = guest.find()
	os.execvpe(found.qemu[0], [*found.qemu, *sys.argv[1:]], found.environment)


if __name__ == '__main__':
	console.run_program(main)
