/* SPDX-License-Identifier: MIT */
/*
 * The order of the processes in each view.
 */
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load.h"

namespace nvdla::top
{

enum class Order {
	Busy,	/**< largest sum of the engines' busy times in the interval first */
	Memory, /**< largest sum of buffer sizes first */
	Name,	/**< alphabetical order of the commands */
	Pid,
};

/** \return the names of all orders, as --sort takes them */
std::vector<std::string> orderNames();
/** \return the order with the name \a name, which is one of orderNames() */
Order orderNamed(std::string_view name);

/** \brief Sort the processes of each device; equal ones by PID. Engines stay as they are. */
void sortProcesses(Load &load, Order order);

/**
 * \return the order that a key selects: the order whose name begins with \a key, or for 's' the one
 * after \a current; nothing for other keys
 */
std::optional<Order> orderOfKey(char key, Order current);

/** \return one line that explains the keys and names the present order */
std::string keyHelp(Order current);

} /* namespace nvdla::top */
