/* SPDX-License-Identifier: MIT */
/*
 * Names of the values of CompileOptions, for command lines and the Python module.
 */
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nvdla/compiler.h>

namespace nvdla
{

template<typename T>
using OptionNames = std::vector<std::pair<std::string, T>>;

inline OptionNames<RangeMethod> rangeNames()
{
	return { { "minmax", RangeMethod::MinMax },
		 { "percentile", RangeMethod::Percentile },
		 { "entropy", RangeMethod::Entropy },
		 { "powers-of-two", RangeMethod::PowersOfTwo } };
}

inline OptionNames<FoldSums> foldSumsNames()
{
	return { { "floats", FoldSums::Floats },
		 { "never", FoldSums::Never },
		 { "always", FoldSums::Always } };
}

inline OptionNames<HostUse> hostNames()
{
	return { { "auto", HostUse::Auto }, { "never", HostUse::Never } };
}

/** \brief Types that a float model can be computed in; integers need calibration samples */
inline OptionNames<DataType> precisionNames()
{
	return { { "fp16", DataType::Half },
		 { "int8", DataType::Int8 },
		 { "int16", DataType::Int16 } };
}

} /* namespace nvdla */
