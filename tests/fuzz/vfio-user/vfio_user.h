/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, taken as what a client sends to the vfio-user server.
 */
#pragma once

#include <cstdint>
#include <span>

namespace nvdla::fuzz
{

/**
 * \brief Play one input against a fresh server
 *
 * The first byte's lowest bit says how the rest is taken:
 *  - 0: the byte stream of a connection, header by header, through a socket;
 *  - 1: records of one byte command, one byte of descriptors to attach, two bytes
 *       payload size (little endian) and the payload, given to the dispatcher
 *       after a proper VERSION. This reaches the commands without luck.
 *
 * Between messages the device touches the memory and raises the interrupts that
 * the client has set up. Aborts if an invariant does not hold.
 */
void playVfioUser(std::span<const uint8_t> input);

} /* namespace nvdla::fuzz */
