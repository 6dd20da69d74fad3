# SPDX-License-Identifier: MIT
"""Modules behind the programs of scripts/: the build, the tests, and the virtual machine with its
parts (the guest).

Only the standard library of Python 3.11 is used. A module that is also a program
is run by scripts/lib/common.sh as ``python3 -m stack.NAME``.
"""
