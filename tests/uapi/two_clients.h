/* SPDX-License-Identifier: MIT */
/*
 * Two clients, and what may happen to the core between them.
 */
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace nvdla::test
{

/** \brief What happens when the first client has gone and the second has not come */
struct CoreEvent {
	std::string name;
	/** \return whether it has happened, and the core is there */
	std::function<bool()> happen;
};

inline void PrintTo(const CoreEvent &event, std::ostream *out)
{
	*out << event.name;
}

/** \brief Its instances are in the programs that can make these things happen */
class TwoClientsAcross : public testing::TestWithParam<CoreEvent>
{
};

} /* namespace nvdla::test */
