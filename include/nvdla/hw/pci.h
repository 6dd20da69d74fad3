/* SPDX-License-Identifier: MIT */
/*
 * NVDLA as a PCI function: identity and capabilities, for the device model and the driver.
 *
 * The function exists only in virtual machines. Its vendor and device id is the first of 1af4:10f0
 * to 1af4:10ff, which QEMU (docs/specs/pci-ids) reserves for experiments, without registration: no
 * product has these ids, and none will. A function that is no longer experimental, for example in a
 * release of QEMU, has to get its own id of vendor 1b36 from QEMU. An FPGA card needs ids of its
 * maker.
 */
#ifndef NVDLA_HW_PCI_H
#define NVDLA_HW_PCI_H

#define NVDLA_PCI_VENDOR_ID		0x1af4
#define NVDLA_PCI_DEVICE_ID		0x10f0
#define NVDLA_PCI_REVISION		0x01
#define NVDLA_PCI_SUBSYSTEM_VENDOR_ID	0x1af4
/* The subsystem id is this base plus the variant, NVDLA_PCI_VARIANT_*. */
#define NVDLA_PCI_SUBSYSTEM_ID_BASE	0x0100

/* Processing accelerator, no programming interface. */
#define NVDLA_PCI_CLASS			0x120000

/*
 * BAR 0 is the core's CSB space: aligned 32-bit accesses only. Other reads return all ones, other
 * writes are ignored.
 */
#define NVDLA_PCI_CSB_BAR		0
#define NVDLA_PCI_CSB_SIZE		0x40000

/* BAR 2 holds the MSI-X table and pending bits, nothing else. */
#define NVDLA_PCI_MSIX_BAR		2

/*
 * Vendor-specific capability (id 0x09), as offsets from the capability's start.
 * All values are little endian.
 *
 *   0x00  u8   capability id, 0x09
 *   0x01  u8   next capability
 *   0x02  u8   bytes of this capability, at least NVDLA_PCI_VSC_LENGTH
 *   0x03  u8   layout version, NVDLA_PCI_VSC_VERSION_1
 *   0x04  u32  NVDLA_PCI_VSC_MAGIC, which tells this capability from other vendor-specific ones
 *   0x08  u16  variant of the core, NVDLA_PCI_VARIANT_*
 *   0x0a  u16  zero
 *   0x0c  u32  zero
 *   0x10  u64  first address of the CVSRAM, as the engines see it
 *   0x18  u64  size of the CVSRAM in bytes, 0 if there is none
 *
 * The CVSRAM is on-chip memory that only the core's engines reach; the CPU does not. A later layout
 * has a higher version and only appends to this one.
 */
#define NVDLA_PCI_VSC_LENGTH		0x20
#define NVDLA_PCI_VSC_LENGTH_OFFSET	0x02
#define NVDLA_PCI_VSC_VERSION_OFFSET	0x03
#define NVDLA_PCI_VSC_MAGIC_OFFSET	0x04
#define NVDLA_PCI_VSC_VARIANT_OFFSET	0x08
#define NVDLA_PCI_VSC_CVSRAM_BASE_OFFSET 0x10
#define NVDLA_PCI_VSC_CVSRAM_SIZE_OFFSET 0x18

#define NVDLA_PCI_VSC_VERSION_1		1
#define NVDLA_PCI_VSC_MAGIC		0x414c444e /* "NDLA" */

#define NVDLA_PCI_VARIANT_NV_FULL	0
#define NVDLA_PCI_VARIANT_NV_SMALL	1
#define NVDLA_PCI_VARIANT_NV_LARGE	2
#define NVDLA_PCI_VARIANT_NV_SMALL_256	3
#define NVDLA_PCI_VARIANT_NV_SMALL_256_FULL 4

/*
 * Another vendor-specific capability, only for tests (nvdla-sim --faults): writes to it
 * make the device misbehave.
 *
 *   0x00  u8   capability id, 0x09
 *   0x01  u8   next capability
 *   0x02  u8   bytes of this capability, NVDLA_PCI_FAULTS_LENGTH
 *   0x03  u8   layout version, 1
 *   0x04  u32  NVDLA_PCI_FAULTS_MAGIC
 *   0x08  u32  order, written at once: NVDLA_PCI_FAULT_* in bits 7 to 0, a count in bits 31 to 8
 *
 * The count is the number of events that LOST, HANG, CDMA and DMA apply to; other orders ignore it.
 * A new order is added to earlier ones. A reset of the function ends only NVDLA_PCI_FAULT_ONES.
 */
#define NVDLA_PCI_FAULTS_LENGTH		0x0c
#define NVDLA_PCI_FAULTS_MAGIC		0x544c4146 /* "FALT" */
#define NVDLA_PCI_FAULTS_ORDER_OFFSET	0x08
#define NVDLA_PCI_FAULTS_COUNT_SHIFT	8

/* Take back all orders. */
#define NVDLA_PCI_FAULT_NONE		0
/* The next interrupts are not sent. */
#define NVDLA_PCI_FAULT_LOST		1
/* Send an interrupt now. Its cause was lost earlier (NVDLA_PCI_FAULT_LOST), or there is none. */
#define NVDLA_PCI_FAULT_SPURIOUS	2
/* The next operations hang when they would end. */
#define NVDLA_PCI_FAULT_HANG		3
/* The next convolutions hang when they would end, because CDMA never reports its end. */
#define NVDLA_PCI_FAULT_CDMA		4
/* The core's registers read as all ones and ignore writes. */
#define NVDLA_PCI_FAULT_ONES		5
/* The next accesses to system memory are refused. */
#define NVDLA_PCI_FAULT_DMA		6
/*
 * The function disappears: everything reads as all ones, and only orders are accepted. When
 * NVDLA_PCI_FAULT_NONE brings it back, it is reset, but in the power state that it had.
 */
#define NVDLA_PCI_FAULT_GONE		7

#endif /* NVDLA_HW_PCI_H */
