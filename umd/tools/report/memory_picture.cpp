/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "tools/prof/prediction_table.h"
#include "tools/report/pictures.h"
#include "tools/report/words.h"

namespace nvdla::report
{

namespace
{

using inspect::Svg;

constexpr double plotWidth = 960.0;
constexpr double plotHeight = 300.0;
constexpr double left = 24.0;
constexpr double titleHeight = 34.0;
constexpr double below = 26.0; /* room for the numbers of the first and last step */
constexpr double letterWidth = 6.4;
constexpr double lineHeight = 12.0;

/* The CSS classes begin with "map", because an SVG file may also hold the picture of a graph, whose
 * classes have other rules. */
constexpr std::string_view mapStyle =
	".paper{fill:#ffffff}\n"
	".mapTitle,.mapText{font-family:'DejaVu Sans','Helvetica Neue',Arial,sans-serif;"
	"fill:#222}\n"
	".mapTitle{font-size:13px;font-weight:bold}\n"
	".mapText{font-size:11px}\n"
	".mapRange{fill:#99ddff;stroke:#444;stroke-width:0.6}\n"
	".mapFrame{fill:#f7f7f7;stroke:#999}\n";

void drawRange(Svg &svg, const AssembledRange &range, double top, double perStep, double perByte,
	       uint64_t bytes)
{
	const double x = left + static_cast<double>(range.firstStep) * perStep;
	const double width = static_cast<double>(range.lastStep - range.firstStep + 1) * perStep;
	const double height = static_cast<double>(range.size) * perByte;
	const double y = top + static_cast<double>(bytes - range.offset - range.size) * perByte;

	svg.beginMark("data-steps", fmt::format("{} {}", range.firstStep, range.lastStep));
	svg.rectangle(x, y, width, height, 0, "mapRange",
		      fmt::format("{}: {} bytes at {}, steps {} to {}", range.name, range.size,
				  range.offset, range.firstStep, range.lastStep));
	const auto letters = static_cast<size_t>(std::max(0.0, (width - 4) / letterWidth));
	if (height >= lineHeight && letters >= 3)
		svg.text(x + 2, y + lineHeight - 2, "mapText", range.name.substr(0, letters));
	svg.endMark();
}

void drawMap(Svg &svg, const MemoryUse &use, double top, size_t steps)
{
	const double perStep = plotWidth / static_cast<double>(std::max<size_t>(steps, 1));
	const double perByte =
		plotHeight / static_cast<double>(std::max<uint64_t>(use.memory->size, 1));

	svg.text(left, top + 20, "mapTitle",
		 fmt::format("memory @{}: {}, {} kB of surfaces, at most {} kB at the same time",
			     use.memory->id, domainName(use.memory->domain),
			     chip::kilobytes(use.memory->size), chip::kilobytes(use.inUse)));
	svg.rectangle(left, top + titleHeight, plotWidth, plotHeight, 0, "mapFrame");
	for (const AssembledRange *range : use.ranges)
		drawRange(svg, *range, top + titleHeight, perStep, perByte, use.memory->size);
	svg.text(left, top + titleHeight + plotHeight + 16, "mapText", "step 0");
	svg.text(left + plotWidth - 60, top + titleHeight + plotHeight + 16, "mapText",
		 fmt::format("step {}", steps ? steps - 1 : 0));
}

} /* namespace */

Svg memoryPicture(const CompiledModel &model)
{
	constexpr double mapHeight = titleHeight + plotHeight + below;
	std::vector<MemoryUse> uses = memoryUses(model);

	std::erase_if(uses, [](const MemoryUse &use) { return use.what != "surfaces"; });
	Svg svg(plotWidth + 2 * left, mapHeight * static_cast<double>(uses.size()) + titleHeight,
		mapStyle);
	if (uses.empty())
		svg.text(left, 20, "mapTitle", "no surfaces between operations");
	for (size_t i = 0; i < uses.size(); i++)
		drawMap(svg, uses[i], mapHeight * static_cast<double>(i),
			model.report.steps.size());
	return svg;
}

} /* namespace nvdla::report */
