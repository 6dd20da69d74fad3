# SPDX-License-Identifier: MIT
"""Run a model one of whose operators ONNX Runtime computes: host.py DEVICE FOLDER

FOLDER has host.onnx, which protoc made of host.txt.
"""

import sys
from pathlib import Path

import numpy as np

import nvdla

device, folder = sys.argv[1], Path(sys.argv[2])
run = nvdla.load(nvdla.compile(folder / 'host.onnx'), device)
found = run(np.array([[[[1, 2], [3, 4]]]], np.float32))
assert found.ravel().tolist() == [3, 7, 7, 15], found
