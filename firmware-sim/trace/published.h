/* SPDX-License-Identifier: MIT */
/*
 * Traces in the formats of the public hardware repository.
 *
 * Their testbench notes each interrupt when it comes. A noted interrupt satisfies one later wait,
 * even if the interrupt came earlier or was cleared together with others meanwhile.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "trace/trace.h"

namespace nvdla::sim
{

/** \brief Address of register word 0 in input.txn */
inline constexpr uint32_t txnRegisters = 0xffff0000;

/** \brief Size of CVSRAM in input.txn, from CoreTarget::cvsramBase on */
inline constexpr size_t txnCvsramSize = size_t{ 64 } << 20;

/**
 * \brief Read input.txn
 *
 * Understands load_mem, dump_mem, write_reg, read_reg (which waits for a value) and wait.
 */
tl::expected<std::vector<TraceCommand>, std::string> parseTxn(std::string_view text,
							      const Geometry &core);

/** \return the bytes of a memory image of input.txn: after headers, each byte is written 0x.. */
tl::expected<std::vector<std::byte>, std::string> decodeDump(std::string_view text);

/**
 * \brief Read a .cfg
 *
 * Understands mem_init, mem_load, reg_write, poll_reg_equal, intr_notify and check_crc. The
 * commands that order the threads of the testbench (sync_notify, sync_wait) are ignored: commands
 * run in the order of their lines.
 */
tl::expected<std::vector<TraceCommand>, std::string> parseCfg(std::string_view text,
							      const Geometry &core);

/** \return name of the interrupt of a bit of GLB's S_INTR_STATUS in intr_notify: "SDP_0" */
std::string interruptName(uint32_t bit);

/** \return the bytes of a memory image of a .cfg: records of offset, size and payload */
tl::expected<std::vector<std::byte>, std::string> decodeRecords(std::string_view text);

} /* namespace nvdla::sim */
