# SPDX-License-Identifier: MIT
"""Files that nobody should write, through nvdla-run: it ends, and says in a line what is wrong."""

import copy
import json
import os
import random
import resource
import struct
import unittest

from programs import ProgramTest, call

# Where something is in the text form of the example network; blobs by the end of their names.
MEMORY, ADDRESS, TASK, TENSOR = 'memory_list', 'address_list', 'task_list', 'tensor_desc_list'
NETWORK, GRAPH, OPERATIONS, SURFACES = 'addr0', 'dep_graph', 'op_list', 'surf_list'

LOADABLE = [
	# what, its value, exit code, words of the message
	((MEMORY, 1, 'size'), 0, 2, ['memory_list[1].size', 'is 0']),
	((MEMORY, 1, 'size'), 1 << 62, 2, ['memory_list[1].size', str(1 << 62)]),
	((MEMORY, 1, 'size'), 1 << 39, 2, ['memory_list id 1', str(1 << 39)]),
	((MEMORY, 0, 'contents', 1, 'offset'), (1 << 64) - 1, 2, ['memory_list[0].offsets[1]', '2-threshold']),
	((MEMORY, 0, 'contents', 1, 'blob'), 'gone', 2, ['memory_list[0].contents[1]', 'gone']),
	((MEMORY, 0, 'domain'), 'sram', 2, ['memory_list id 0.domain']),
	((MEMORY, 1, 'domain'), 'sram', 2, ['memory_list id 1.domain']),
	((ADDRESS, 1, 'mem_id'), 77, 2, ['address_list[1].mem_id', '77']),
	((ADDRESS, 1, 'offset'), 1 << 40, 2, ['address_list[1].offset']),
	((TASK, 0, 'address_list'), [], 2, ['task_list[0].address_list']),
	((TASK, 0, 'address_list'), [4], 2, ['task 0 dependency graph', 'address index 5']),
	((TASK, 0, 'address_list', 8), 99, 2, ['task_list[0].address_list[8]', '99']),
	((TASK, 0, 'interface'), 'emu1', 2, ['task 0']),
	(('submit_list', 0, 'task_id'), [], 2, ['submit_list']),
	(('submit_list', 0, 'task_id'), [9], 2, ['submit_list[0].task_id[0]', '9']),
	((TENSOR, 0, 'c'), 1 << 30, 2, ['tensor picture', str(1 << 30)]),
	((TENSOR, 0, 'h'), -1, 2, ['tensor_desc_list[0]', 'picture']),
	((TENSOR, 0, 'size'), 1 << 40, 2, ['tensor_desc_list[0].size', 'memory 1']),
	((TENSOR, 0, 'mem_id'), 77, 2, ['tensor_desc_list[0].mem_id', '77']),
	((NETWORK, 0, 'num_operations'), 65535, 2, ['task 0 dependency graph', 'memory 4']),
	((NETWORK, 0, 'num_luts'), 65535, 2, ['task 0 LUT list', 'memory 7']),
	((NETWORK, 0, 'operation_desc_index'), 100, 2, ['task 0 operation list', 'address index 100']),
	((NETWORK, 0, 'dynamic_roi'), 1, 2, ['task 0 dynamic_roi']),
	((GRAPH, 2, 'consumers'), {'conv': {'index': 0, 'event': 'op_completed'}}, 3,
	 ['operation 0 (CONV) consumers', 'cycle']),
	((GRAPH, 1, 'fused_parent', 'index'), 2, 3, ['operation 1 (SDP) fused_parent.index']),
	((OPERATIONS, 0, 'conv', 'release'), 60000, 3, ['operation 0 (CONV) release', '60000']),
	((OPERATIONS, 0, 'conv', 'data_bank'), 100, 3, ['operation 0 (CONV)', 'bank']),
	((OPERATIONS, 0, 'conv', 'kernel_height_csc'), 0, 3, ['operation 0 (CONV) kernel_height_csc']),
	((OPERATIONS, 1, 'sdp', 'lut_index'), 5, 3, ['operation 1 (SDP) lut_index']),
	((OPERATIONS, 2, 'pdp', 'split_num'), 200, 3, ['operation 2 (PDP) split_num', '200']),
	((SURFACES, 0, 'conv', 'src_data', 'line_stride'), 0xffffffe0, 3, ['operation 0 (CONV) src_data']),
	((SURFACES, 0, 'conv', 'src_data', 'address'), 200, 3, ['operation 0 (CONV) src_data.address', '200']),
	((SURFACES, 0, 'conv', 'weight_data', 'offset'), 0xffffffe0, 3, ['operation 0 (CONV) weight_data']),
	((SURFACES, 2, 'pdp', 'dst_data', 'line_stride'), 0xffffffe0, 3, ['operation 2 (PDP) dst_data']),
	((SURFACES, 2, 'pdp', 'dst_data', 'address'), -1, 3, ['operation 2 (PDP) dst_data.address']),
]

SEED = 7
DAMAGED = 60


class HostileLoadable(ProgramTest):
	def setUp(self):
		super().setUp()
		text = self.folder / 'net.json'
		self.good('nvdla-convert', self.net, text)
		self.json = json.loads(text.read_text())

	def changed(self, path, value):
		root = copy.deepcopy(self.json)
		if path[0] not in root:
			entries = next(blob for blob in root['blobs'] if blob['name'].endswith(path[0]))['entries']
			path = ('entries', *path[1:])
			place = {'entries': entries}
		else:
			place = root
		for key in path[:-1]:
			place = place[key]
		place[path[-1]] = value
		return self.store(root)

	def store(self, root):
		return self.write('bad.json', json.dumps(root).encode())

	def refused(self, code, words, *arguments, **options):
		said = self.bad(code, 'nvdla-run', '--loadable', *arguments, **options)
		self.assertTrue(said.startswith('nvdla-run: '), said)
		self.assertEqual(said.count('\n'), 1, said)
		for word in words:
			self.assertIn(word, said)

	def test_what_is_wrong_is_named(self):
		for path, value, code, words in LOADABLE:
			with self.subTest(path=path, value=value):
				self.refused(code, words, self.changed(path, value))

	def test_more_memory_than_the_host_has(self):
		"""Each of them may be had, all of them would take the host down."""
		size = 1 << 32
		count = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // size + 1
		root = self.json
		for i in range(count):
			root[MEMORY].append(dict(root[MEMORY][2], id=100 + i, bind_id=1 + i, tensor_desc_id=10 + i,
						 size=size))
			root[TENSOR].append(dict(root[TENSOR][1], id=10 + i, mem_id=100 + i, size=size))
		self.refused(1, ['memory_list id 1', str(size)], self.store(root))

	@unittest.skipIf(os.environ.get('NVDLA_SANITIZED', 'none') != 'none', 'sanitizers need address space')
	def test_more_memory_than_the_process_may_have(self):
		"""The device's fits, what the process needs besides does not."""
		size = 1 << 30
		for i in (0, 1):
			self.json[TENSOR][i]['size'] = size
			self.json[MEMORY][1 + i]['size'] = size
		limit = 11 * size // 4
		self.refused(1, ['memory'], self.store(self.json),
			     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

	def test_text_without_end(self):
		for text in (b'[' * 1000000, b'{"a":' * 100000, b'{"nvdla_loadable": 1e999}', b'{"blobs": null}'):
			self.refused(2, ['bad.json'], self.write('bad.json', text))

	def test_truncated(self):
		whole = self.net.read_bytes()
		for length in {0, 1, 7, 8, *range(64, len(whole) - 64, len(whole) // 16)}:
			self.refused(2, ['cut.nvdla'], self.write('cut.nvdla', whole[:length]))

	def test_damaged(self):
		"""An answer, or a line that says why not; which of them is the damage's to decide."""
		whole = self.net.read_bytes()
		dice = random.Random(SEED)
		for i in range(DAMAGED):
			damaged = bytearray(whole)
			for _ in range(dice.randint(1, 4)):
				word = dice.choice([0, 1, 0x7fffffff, 0x80000000, 0xffffffff, dice.getrandbits(32)])
				struct.pack_into('<I', damaged, dice.randrange(len(whole) - 4), word)
			said = call('nvdla-run', '--loadable', self.write('bad.nvdla', damaged), '--timeout', 2000)
			with self.subTest(seed=SEED, damaged=i, said=said.stderr):
				self.assertIn(said.returncode, (0, 1, 2, 3, 4))
				if said.returncode:
					self.assertTrue(said.stderr.startswith('nvdla-run: '))
					self.assertEqual(said.stderr.count('\n'), 1)
				else:
					self.assertRegex(said.stderr, r"^(nvdla-run: input '.*' is zero: --input was not given for it\n)*$")

	def test_inputs(self):
		npy = b'\x93NUMPY\x01\x00'
		shape = b"{'descr': '|i1', 'fortran_order': False, 'shape': (%s), }"
		inputs = {
			'small.pgm': (b'P5 8 8 255\n' + bytes(64), ['8', '16']),
			'long.pgm': (b'P5 99999999999 1 255\n', ['long.pgm']),
			'short.ppm': (b'P6 16 16 255\n' + bytes(100), ['short.ppm', '768']),
			'short.raw': (bytes(1000), ['picture', '1000', '1024']),
			'short.dimg': (b'DIMG' + bytes(8), ['short.dimg']),
			'other.dimg': (b'DIMG' + struct.pack('<8I', 0, 42, 16, 16, 4, 64, 0, 1024), ['picture', '42']),
			'deep.dimg': (b'DIMG' + struct.pack('<8I', 0, 40, 16, 16, 8, 64, 0, 2048) + bytes(2048),
				      ['8 x 16 x 16', 'accepted is 4 x 16 x 16']),
			'cut.png': (b'\x89PNG\r\n\x1a\n' + bytes(9), ['cut.png']),
			'cut.jpg': (b'\xff\xd8\xff\xe0' + bytes(20), ['cut.jpg']),
			'cut.npy': (npy, ['cut.npy']),
			'large.npy': (npy + struct.pack('<H', 72) + (shape % b'4294967295, 4294967295').ljust(72),
				      ['large.npy']),
			'other.npy': (npy + struct.pack('<H', 72) + (shape % b'1, 2, 3, 4').ljust(72) + bytes(24),
				      ['picture', '[1, 2, 3, 4]', 'accepted is [1, 4, 16, 16] or [4, 16, 16]']),
		}
		for name, (contents, words) in inputs.items():
			with self.subTest(name=name):
				self.refused(2, words, self.net, '--input', self.write(name, contents))


if __name__ == '__main__':
	unittest.main(argv=['hostile_test'])
