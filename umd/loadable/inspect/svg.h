/* SPDX-License-Identifier: MIT */
/* SVG pictures, with only the elements that the tools draw. */
#pragma once

#include <string>
#include <string_view>

namespace nvdla::inspect
{

/**
 * \return \a text with &, <, > and quotes as entities; characters other than printable ASCII and
 * line breaks as '?'
 */
std::string escapeXml(std::string_view text);

/** \brief Builds a picture; lengths are pixels */
class Svg
{
public:
	/** \param[in] style CSS rules for the classes that elements name */
	Svg(double width, double height, std::string_view style);

	void rectangle(double x, double y, double width, double height, double radius,
		       std::string_view classes, std::string_view title = {});
	void text(double x, double y, std::string_view classes, std::string_view text);
	/** \param[in] data commands of a path, as in SVG's attribute "d" */
	void path(std::string_view data, std::string_view classes);
	/**
	 * \brief Mark elements drawn until endMark() with an attribute, for programs that show the
	 * picture
	 * \param[in] attribute such as "data-op"
	 */
	void beginMark(std::string_view attribute, std::string_view value);
	void endMark() { out_ += "</g>\n"; }
	void line(double x1, double y1, double x2, double y2, std::string_view classes);

	/** \brief Draw another picture inside this one; the style rules of both apply to both */
	void place(double x, double y, const Svg &picture);

	double width() const { return width_; }
	double height() const { return height_; }

	/**
	 * \brief End the picture, to which nothing can be added then
	 * \return the picture as text
	 */
	std::string finish();

private:
	double width_;
	double height_;
	std::string out_;
};

} /* namespace nvdla::inspect */
