# SPDX-License-Identifier: MIT
"""Converts the driver's sources to their form in a kernel tree, in drivers/accel/nvdla.

In this repository, the sources of kmd/engine also build in user space, some headers are generated, and nvdla_compat.h
defines for older kernels functions that only the newest one has. In a kernel tree, all sources are in one folder, and
the generated headers are ordinary files; the headers for user space and nvdla_compat.h are left out.
"""

import re

from .console import Failure

# Headers that exist only because the sources also build in user space and for older kernels.
_SHIMS = ('nvdla_platform.h', 'nvdla_types.h', 'nvdla_compat.h')
# {pattern of a call of a function in nvdla_compat.h: expression that replaces the call on the newest kernel}.
_NEWEST = {r'nvdla_sched_keep_job\(\w+\)': 'DRM_GPU_SCHED_STAT_NO_HANG'}
# Headers that are outside of kmd/ in this repository: {path below include/: name in the kernel
# tree}.
RENAMED = {
	'nvdla/hw/registers.h': 'nvdla_regs.h',
	'nvdla/hw/register_table.h': 'nvdla_reg_table.h',
	'nvdla/hw/pci.h': 'nvdla_pci_ids.h',
}
_GUARDS = {
	'NVDLA_HW_REGISTERS_H': 'NVDLA_REGS_H',
	'NVDLA_HW_REGISTER_TABLE_H': 'NVDLA_REG_TABLE_H',
	'NVDLA_HW_PCI_H': 'NVDLA_PCI_IDS_H',
}
# {kernel header: pattern of code that needs it}. These headers replace nvdla_platform.h.
_HEADER_OF = {
	'linux/align.h': r'IS_ALIGNED\(',
	'linux/array_size.h': r'ARRAY_SIZE\(',
	'linux/bitfield.h': r'\bFIELD_(?:GET|PREP)\(',
	'linux/bits.h': r'BIT(?:_ULL)?\(',
	'linux/build_bug.h': r'static_assert\(',
	'linux/errno.h': r'\bE(?:INVAL|NOMEM|IO|BUSY|NODEV)\b',
	'linux/limits.h': r'\b[US](?:8|16|32|64)_(?:MAX|MIN)\b',
	'linux/math.h': r'\b(?:DIV_ROUND_UP|round_up)\(',
	'linux/minmax.h': r'\b(?:min|max|min_t)\(',
	'linux/overflow.h': r'\bcheck_(?:add|mul)_overflow\(',
	'linux/slab.h': r'\bk[vmz]\w*(?:alloc|free)\w*\(',
	'linux/stddef.h': r'\b(?:offsetofend\(|offsetof\(|NULL\b)',
	'linux/string.h': r'\bmem(?:cpy|set|cmp)\(',
	'linux/types.h': r'\b[us](?:8|16|32|64)\b',
	'linux/wordpart.h': r'\b(?:upper|lower)_32_bits\(',
}
# (pattern of an allocation, its form in the newest kernel). Older kernels lack the functions of the
# new form.
_ALLOCATIONS = (
	(r'\b(k[vm]?[mz]alloc|kvzalloc)\(\s*sizeof\((\*?[\w.>-]+)\),\s*([\w |]+)\)', r'\1_obj(\2, \3)'),
	(r'\bkcalloc\(([^,;]+),\s*sizeof\((\*?[\w.>-]+)\),\s*(\w+)\)', r'kzalloc_objs(\2, \1, \3)'),
	(r'\bkvcalloc\(([^,;]+),\s*sizeof\((\*?[\w.>-]+)\),\s*(\w+)\)', r'kvzalloc_objs(\2, \1, \3)'),
	(r'\b(k|kv)malloc_array\(([^,;]+),\s*sizeof\((\*?[\w.>-]+)\),\s*(\w+)\)', r'\1malloc_objs(\3, \2, \4)'),
)
# GFP_KERNEL is the default of the new functions, so it is left out.
_DEFAULT_GFP = (r'(\bkv?[mz]alloc_objs?\([^;]*?), GFP_KERNEL\)', r'\1)')
_COLUMNS = 100
# Text that must not be left in a kernel tree.
_LEFTOVERS = re.compile(r'__cplusplus|__KERNEL__|NVDLA_HAVE_|nvdla_compat|nvdla_platform\.h|nvdla_types\.h|'
			r'nvdla_sched_keep_job|nvdla/hw|engine/|registers\.yaml|gen-registers|NVDLA_GENERATED|user space.*shim')


def driver(root, generated):
	"""Return the files of drivers/accel/nvdla except Kconfig and Makefile, made from the repository @root: {name:
	text}.

	@generated is the folder with nvdla/hw/registers.h.
	"""
	sources = [path for folder in ('kmd', 'kmd/engine') for path in sorted((root / folder).glob('*.[ch]'))
		   if path.name not in _SHIMS]
	files = {path.name: path.read_text() for path in sources}
	files |= {f'tests/{path.name}': path.read_text() for path in (root / 'kmd/engine/tests').glob('*.[ch]')}
	for name, new in RENAMED.items():
		path = next((folder / name for folder in (generated, root / 'include') if (folder / name).is_file()), None)
		if not path:
			raise Failure(f'{generated / name} is missing: scripts/build-kmd generates it')
		files[new] = path.read_text()
	return {name: checked(name, _converted(text, '../' if '/' in name else '')) for name, text in files.items()}


def engine_names(root):
	"""Return the names of those files in driver()'s result that come from kmd/engine."""
	return {path.name for path in (root / 'kmd/engine').glob('*.[ch]')} - set(_SHIMS)


def objects(root):
	"""Return three lists: the driver's objects; pairs (option, object) of those that depend on an option; the
	tests' objects."""
	text = (root / 'kmd/Kbuild').read_text()
	listed = re.search(r'^nvdla-y :=(.*?)\n\n', text, re.DOTALL | re.MULTILINE)
	optional = re.findall(r'^nvdla-\$\((CONFIG_\w+)\) \+= (\S+)$', text, re.MULTILINE)
	engine = re.findall(r'\bnvdla_\w+\.o\b', listed.group(1))
	named = re.findall(r'(?<!\S)(?:tests/)?nvdla_\w+\.o\b', (root / 'kmd/engine/engine.mk').read_text())
	return (sorted(engine + [name for name in named if '/' not in name]), optional,
		sorted(name for name in named if '/' in name))


def public_headers(root):
	"""Return the headers in include/uapi/drm: {name: text}."""
	return {path.name: path.read_text() for path in sorted((root / 'include/uapi/drm').glob('*.h'))}


def _converted(text, up):
	"""Return the source @text in its form for a kernel tree. @up: path from the file's folder to the driver's
	folder, '' or '../'."""
	text = re.sub(r'#ifdef __cplusplus\n.*?#endif\n\n?', '', text, flags=re.DOTALL)
	text = re.sub(r'/\* Generated by .*?\*/\n', '', text)
	for old, new in _GUARDS.items():
		text = text.replace(old, new)
	text = text.replace('__attribute__((unused))', '__maybe_unused')
	text = _with_bit(text)
	for pattern, new in _NEWEST.items():
		text = re.sub(pattern, new, text)
	for pattern, new in _ALLOCATIONS:
		text = re.sub(pattern, new, text)
	text = re.sub(*_DEFAULT_GFP, text)
	text = re.sub(r'(?m)^(?:#include [<"][^>"]+[>"]\n+)+', lambda block: _includes(block.group(0), text, up), text, count=1)
	text = '\n'.join(_wrapped(line) for line in text.split('\n'))
	return re.sub(r'\n{3,}', '\n\n', text)


def _with_bit(text):
	"""Replace (1U << N) in @text by BIT(N), and include the header of BIT()."""
	text, count = re.subn(r'\(1[Uu] << (\d+)\)', r'BIT(\1)', text)
	if not count or '<linux/bits.h>' in text:
		return text
	if '#include' in text:
		return text.replace('#include', '#include <linux/bits.h>\n#include', 1)
	return re.sub(r'(#define \w+_H\n)', r'\1\n#include <linux/bits.h>\n', text, count=1)


def _wrapped(line):
	"""Return the text @line. If it is too long and is a row of the register table or an allocation, return it in
	two lines."""
	if len(line.expandtabs(8)) <= _COLUMNS:
		return line
	if row := re.match(r'(\t\{ "\w+",.*?,) (NVDLA_REGISTER_.*)', line):
		return f'{row.group(1)}\n\t  {row.group(2)}'
	if call := re.match(r'(.*_objs?\()(.*), (\w+\);)$', line):
		indent = len(call.group(1).expandtabs(8))
		margin = '\t' * (indent // 8) + ' ' * (indent % 8)
		return f'{call.group(1)}{call.group(2)},\n{margin}{call.group(3)}'
	return line


def _includes(block, text, up):
	"""Return the includes for a kernel tree: the headers that the source @text needs, in the kernel's order.
	@block: the includes at the start of @text, which they replace."""
	names = re.findall(r'#include [<"]([^>"]+)[>"]', block)
	wanted = set()
	for name in names:
		if name in RENAMED:
			wanted.add(up + RENAMED[name])
		elif name.endswith('nvdla_platform.h'):
			wanted.update(header for header, pattern in _HEADER_OF.items() if re.search(pattern, text))
		elif name.endswith('nvdla_types.h'):
			wanted.add('linux/types.h')
		elif not name.endswith('nvdla_compat.h'):
			wanted.add(name.removeprefix('engine/'))
	own = {name for name in wanted if '/' not in name or name.startswith('../')}
	groups = ([name for name in wanted - own if not name.startswith('drm/')],
		  [name for name in wanted if name.startswith('drm/')], own)
	text = [''.join(f'#include "{name}"\n' if name in own else f'#include <{name}>\n' for name in sorted(group))
		for group in groups if group]
	return '\n'.join(text) + '\n'


def checked(name, text):
	for number, line in enumerate(text.splitlines(), 1):
		if found := _LEFTOVERS.search(line):
			raise Failure(f'{name}:{number} still has "{found.group(0)}", which a kernel tree does not know: '
				      'teach scripts/lib/stack/kernel_form.py to resolve it')
	return text
