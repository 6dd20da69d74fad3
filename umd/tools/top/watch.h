/* SPDX-License-Identifier: MIT */
#pragma once

#include <chrono>

#include "load_text.h"
#include "order.h"
#include "terminal.h"

namespace nvdla::top
{

/** \brief Options of nvdla-top's display */
struct View {
	std::chrono::duration<double> interval{ 1 };
	Order order = Order::Busy;
	bool colour = false;
};

/**
 * \brief Show views on a terminal, one each interval, until a key or a signal ends the program
 * \param[in] before an earlier snapshot; the first view shows the load since then
 */
Result<void> watch(const Selection &selection, Snapshot before, View view, Terminal &terminal);

} /* namespace nvdla::top */
