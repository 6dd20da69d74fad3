# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# What kmd/Kbuild has at its end in a driver for tests: faults to order. The linker puts each
# __wrap_NAME of nvdla_faults.c before the driver's NAME, which is __real_NAME there.
nvdla-y += nvdla_faults.o

LDFLAGS_nvdla.o := $(addprefix --wrap=,nvdla_args_extent nvdla_debugfs_init nvdla_device_init \
				       nvdla_job_init nvdla_hw_attend nvdla_sequencer_create)
