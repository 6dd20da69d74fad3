# SPDX-License-Identifier: MIT
"""Read a digit with the installed Python package: digits.py DEVICE FOLDER

FOLDER has digits.onnx and seven.pgm.
"""

import sys
from pathlib import Path

import numpy as np

import nvdla

device, folder = sys.argv[1], Path(sys.argv[2])
assert nvdla.devices() == [device], nvdla.devices()
pixels = np.frombuffer((folder / 'seven.pgm').read_bytes()[-64:], np.uint8).reshape(8, 8).astype(np.float32)
model = nvdla.compile(folder / 'digits.onnx')
there = nvdla.load(model, device)(pixels)
# It is not optimised, and its processor is emulated on a busy one.
here = nvdla.load(model, 'embedded')(pixels, timeout=600)
assert there.argmax() == 7, there
assert np.array_equal(there, here), (there, here)
print(nvdla.__file__, nvdla.load(model, device).profile(pixels), sep='\n')
