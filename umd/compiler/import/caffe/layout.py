#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write the layout of messages, as protoc describes it, as numbers between commas.

Usage: layout.py PROTOC FILE.proto OUTPUT
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def main():
	protoc, source, output = sys.argv[1:]
	with tempfile.TemporaryDirectory() as folder:
		described = Path(folder) / 'layout'
		subprocess.run([protoc, f'--proto_path={Path(source).parent}', f'--descriptor_set_out={described}', source], check=True)
		numbers = [str(byte) for byte in described.read_bytes()]
	Path(output).write_text(','.join(numbers) + '\n', encoding='utf-8')


if __name__ == '__main__':
	main()
