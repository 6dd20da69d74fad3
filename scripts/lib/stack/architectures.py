# SPDX-License-Identifier: MIT
"""Processors for which the driver is built, and which of them a guest (virtual machine) can have; one row each."""

import dataclasses

from .console import Failure


@dataclasses.dataclass(frozen=True)
class Architecture:
	"""One architecture. If @machine is empty, no guest can have it; if @flavour is empty, Debian has no kernel for
	it."""

	name: str		# name in Debian
	kbuild: str		# ARCH= of a kernel's build
	gnu: str		# prefix of the compilers' names
	flavour: str		# end of the release of Debian's kernels, as in 6.12.9-amd64
	package: str = ''	# Debian package with QEMU
	qemu: str = ''		# QEMU's program
	machine: str = ''	# argument of -machine, without the memory
	cpu: str = ''		# argument of -cpu for an emulated processor
	console: str = ''
	narrow: str = ''	# name of the 32-bit architecture whose programs the kernel also runs
	iommu: str = ''		# QEMU's IOMMU device, or '' without one
	dma: str = 'none'	# DMA mode (vm.Options.dma) of guests in scripts/test --arch
	makes_modules: bool = True	# false: modules are compiled but not linked
	libraries: str = ''	# library folder in /usr/lib, if not named @gnu

	@property
	def is_foreign(self):
		"""Whether a cross compiler is needed: the scripts run on amd64."""
		return self is not AMD64

	@property
	def library_folder(self):
		"""Name of the folder with the libraries in /usr/lib."""
		return self.libraries or self.gnu

	@property
	def family(self):
		"""The architecture's name in the names of QEMU's user-mode emulators."""
		return self.library_folder.split('-')[0]

	@property
	def make_variables(self):
		"""Variables for kbuild's command line."""
		if not self.is_foreign:
			return []
		compile_only = [] if self.makes_modules else ['MODPOST=/bin/true', 'KBUILD_MODPOST_NOFINAL=1']
		return [f'ARCH={self.kbuild}', f'CROSS_COMPILE={self.gnu}-', *compile_only]


# The guest's processor has no fast string instructions (erms, fsrm): with them the kernel would clear pages byte by
# byte, which is slow on an emulated processor.
AMD64 = Architecture('amd64', 'x86', 'x86_64-linux-gnu', 'amd64', 'qemu-system-x86', 'qemu-system-x86_64',
		     'q35,vmport=off', 'max,erms=off,fsrm=off', 'ttyS0', 'i386',
		     'intel-iommu,intremap=off,caching-mode=on')
# PCI functions can send MSI to RISC-V's interrupt controller AIA, but not to the older one, PLIC.
_ALL = (AMD64,
	Architecture('riscv64', 'riscv', 'riscv64-linux-gnu', 'riscv64', 'qemu-system-riscv', 'qemu-system-riscv64',
		     'virt,aia=aplic-imsic', 'max', 'ttyS0'),
	Architecture('arm64', 'arm64', 'aarch64-linux-gnu', 'arm64', 'qemu-system-arm', 'qemu-system-aarch64',
		     'virt,gic-version=3', 'max,pauth-impdef=on', 'ttyAMA0', 'armhf', 'virtio-iommu-pci', 'iommu'),
	# Modules for armhf are not linked: Debian's modpost fails, because it assumes that an
	# of_device_id has 200 bytes instead of 196.
	Architecture('armhf', 'arm', 'arm-linux-gnueabihf', 'armmp', makes_modules=False),
	Architecture('i386', 'x86', 'i686-linux-gnu', '', libraries='i386-linux-gnu'))


def foreign():
	"""All architectures with kernels, except this machine's."""
	return [row for row in _ALL if row.is_foreign and row.flavour]


def named(name):
	"""Return the architecture @name; raises Failure if there is none."""
	for row in _ALL:
		if row.name == name:
			return row
	raise Failure(f'there is no architecture {name}; there are: {", ".join(row.name for row in _ALL)}', 2)
