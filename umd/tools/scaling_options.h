/* SPDX-License-Identifier: MIT */
/*
 * The options --mean and --normalize, which scale pixels.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/image.h>

#include "command-line/command_line.h"

namespace nvdla::tools
{

/** \brief The options --mean and --normalize. The object must exist until the command line is
 * parsed, because parsing writes to it */
class ScalingOptions
{
public:
	ScalingOptions() = default;
	ScalingOptions(const ScalingOptions &) = delete;
	ScalingOptions &operator=(const ScalingOptions &) = delete;

	/**
	 * \param[in] pictures text for the help: which pictures are scaled
	 * \param[in] note further text for the help of --normalize
	 */
	void addTo(CommandLine &app, const std::string &pictures, const std::string &note = "")
	{
		all_.push_back(app.option("--mean", mean_,
					  "from the pixels (0 to 255) of " + pictures +
						  ", subtract these numbers: three, for red, "
						  "green and blue, or one if the input is grey; "
						  "default: 0")
				       .commaList(static_cast<int>(PixelScaling{}.mean.size())));
		all_.push_back(app.option("--normalize", normalize_,
					  "divide the pixels of " + pictures +
						  " by this number, after subtracting --mean" +
						  note)
				       .showDefault());
	}

	/** \return the options, for programs that report options without effect */
	const std::vector<CommandLineOption> &all() const { return all_; }

	/** \return nothing if no option was given */
	std::optional<PixelScaling> scaling() const
	{
		PixelScaling scaling{ .normalize = normalize_ };

		if (std::ranges::none_of(all_, &CommandLineOption::given))
			return std::nullopt;
		/* NaN marks numbers that are missing; forChannels() replaces or refuses them. */
		if (!mean_.empty())
			std::fill_n(scaling.mean.begin(), colours, NAN);
		std::ranges::copy(mean_, scaling.mean.begin());
		return scaling;
	}

	/** \return \a scaling for an input of \a channels; InvalidArgument if it has colours, and
	 * --mean was given with fewer than three numbers */
	static Result<PixelScaling> forChannels(PixelScaling scaling, size_t channels)
	{
		for (float &mean : scaling.mean) {
			if (std::isnan(mean) && channels > 1)
				return fail(ErrorCode::InvalidArgument, "--mean", "",
					    "give three numbers, for red, green and blue");
			mean = std::isnan(mean) ? 0 : mean;
		}
		return scaling;
	}

private:
	static constexpr size_t colours = 3;

	std::vector<CommandLineOption> all_;
	std::vector<float> mean_;
	float normalize_ = PixelScaling{}.normalize;
};

} /* namespace nvdla::tools */
