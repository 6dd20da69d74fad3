/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <fmt/core.h>

namespace nvdla::inspect
{

std::string escapeXml(std::string_view text)
{
	std::string escaped;

	for (char letter : text) {
		switch (letter) {
		case '&':
			escaped += "&amp;";
			break;
		case '<':
			escaped += "&lt;";
			break;
		case '>':
			escaped += "&gt;";
			break;
		case '"':
			escaped += "&quot;";
			break;
		default:
			escaped +=
				(letter >= ' ' && letter <= '~') || letter == '\n' ? letter : '?';
		}
	}
	return escaped;
}

Svg::Svg(double width, double height, std::string_view style) : width_(width), height_(height)
{
	out_ = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
			   "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
			   "<style>\n{2}</style>\n"
			   "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
			   width, height, style);
}

void Svg::rectangle(double x, double y, double width, double height, double radius,
		    std::string_view classes, std::string_view title)
{
	out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
			    "rx=\"{:.1f}\" class=\"{}\"",
			    x, y, width, height, radius, classes);
	out_ += title.empty() ? "/>\n"
			      : fmt::format("><title>{}</title></rect>\n", escapeXml(title));
}

void Svg::text(double x, double y, std::string_view classes, std::string_view text)
{
	out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y,
			    classes, escapeXml(text));
}

void Svg::path(std::string_view data, std::string_view classes)
{
	out_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", data, classes);
}

void Svg::beginMark(std::string_view attribute, std::string_view value)
{
	out_ += fmt::format("<g {}=\"{}\">\n", attribute, escapeXml(value));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes)
{
	out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
			    "class=\"{}\"/>\n",
			    x1, y1, x2, y2, classes);
}

void Svg::place(double x, double y, const Svg &picture)
{
	constexpr std::string_view opening = "<svg ";

	out_ += fmt::format("{}x=\"{:.1f}\" y=\"{:.1f}\" {}</svg>\n", opening, x, y,
			    std::string_view(picture.out_).substr(opening.size()));
}

std::string Svg::finish()
{
	return out_ + "</svg>\n";
}

} /* namespace nvdla::inspect */
