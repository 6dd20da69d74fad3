# SPDX-License-Identifier: MIT
"""The image from which QEMU boots a kernel.

A bzImage is a compressed kernel that decompresses itself. On an emulated processor that takes longer than the firmware
and all drivers together. Kernels with CONFIG_PVH can be booted from the ELF image inside of the bzImage instead
(Documentation/arch/x86/boot.rst, "payload_offset", and Xen's PVH start info in the kernel's source).
"""

import contextlib
import gzip
import hashlib
import lzma
import os
import shutil
import struct
import subprocess
import zlib

_SETUP_SECTORS, _MAGIC, _PAYLOAD = 0x1f1, 0x202, 0x248
_ELF = b'\x7fELF'


def _payload(image):
	"""Return the compressed part of @image, the bytes of a bzImage; None if @image is no bzImage."""
	if len(image) < _PAYLOAD + 8 or image[_MAGIC:_MAGIC + 4] != b'HdrS':
		return None
	start = ((image[_SETUP_SECTORS] or 4) + 1) * 512
	offset, length = struct.unpack_from('<II', image, _PAYLOAD)
	return image[start + offset:start + offset + length]


def _decompressed(payload):
	"""Return the decompressed kernel, or None if decompressing fails. With gzip all of @payload is compressed data;
	with other formats the last four bytes are the kernel's size."""
	body = payload[:-4]
	try:
		if payload.startswith(b'\x1f\x8b'):
			return gzip.decompress(payload)
		if payload.startswith(b'\xfd7zXZ\0'):
			return lzma.decompress(body)
		if payload.startswith(b'\x28\xb5\x2f\xfd') and shutil.which('zstd'):
			return subprocess.run(['zstd', '-dcq'], input=body, capture_output=True, check=True).stdout
	except (OSError, EOFError, zlib.error, lzma.LZMAError, subprocess.CalledProcessError):
		pass
	return None


def uncompressed(kernel, cache):
	"""Return the path of the image from which QEMU boots the Kernel @kernel fastest: its ELF image, which is kept
	in @cache, or its bzImage if QEMU cannot boot the ELF image."""
	if not kernel.has('CONFIG_PVH'):
		return kernel.image
	identity = f'{kernel.image} {os.stat(kernel.image).st_mtime_ns}'
	kept = cache / f'vmlinux-{kernel.release}-{hashlib.sha256(identity.encode()).hexdigest()[:20]}'
	if kept.is_file():
		return kept
	payload = _payload(kernel.image.read_bytes())
	contents = _decompressed(payload) if payload else None
	if not contents or not contents.startswith(_ELF):
		return kernel.image
	cache.mkdir(parents=True, exist_ok=True)
	for stale in cache.glob(f'vmlinux-{kernel.release}-*'):
		with contextlib.suppress(FileNotFoundError):
			stale.unlink()
	partial = cache / f'partial-{os.getpid()}-{kernel.release}'
	partial.write_bytes(contents)
	os.replace(partial, kept)
	return kept
