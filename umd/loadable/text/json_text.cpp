/* SPDX-License-Identifier: MIT */
/* Parses and prints JSON text. */
#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "json_value.h"

namespace nvdla::text
{

namespace
{

/* Limits, above those that a loadable needs; they bound the work that a hostile text can cause. */
constexpr int maxDepth = 16;
constexpr size_t maxFields = 64;
constexpr size_t maxValues = size_t{ 1 } << 24;

constexpr size_t lineColumns = 100;
constexpr size_t indentColumns = 2;

struct Refused {
	std::string why;
};

/* Observes the parser and stops it as soon as a limit is exceeded. */
class Limits
{
public:
	bool operator()(int depth, Json::parse_event_t event, const Json &parsed)
	{
		if (++values_ > maxValues)
			throw Refused{ fmt::format("has more than {} values", maxValues) };
		switch (event) {
		case Json::parse_event_t::object_start:
			open(depth);
			keys_.emplace_back();
			break;
		case Json::parse_event_t::object_end:
			keys_.pop_back();
			break;
		case Json::parse_event_t::array_start:
			open(depth);
			break;
		case Json::parse_event_t::key:
			addKey(parsed.get_ref<const std::string &>());
			break;
		default:
			break;
		}
		return true;
	}

private:
	static void open(int depth)
	{
		if (depth >= maxDepth)
			throw Refused{ fmt::format("is nested deeper than {} levels", maxDepth) };
	}

	void addKey(const std::string &key)
	{
		std::vector<std::string> &seen = keys_.back();
		if (std::find(seen.begin(), seen.end(), key) != seen.end())
			throw Refused{ fmt::format("has the field {} twice in one object",
						   quote(key)) };
		if (seen.size() == maxFields)
			throw Refused{ fmt::format("has an object with more than {} fields",
						   maxFields) };
		seen.push_back(key);
	}

	size_t values_ = 0;
	std::vector<std::vector<std::string>> keys_;
};

std::string position(std::string_view text, size_t byte)
{
	const std::string_view before = text.substr(0, std::min(byte, text.size()));
	const auto lines = std::count(before.begin(), before.end(), '\n');
	const size_t lineStart = before.rfind('\n') + 1;

	return fmt::format("line {} column {}", lines + 1, before.size() - lineStart);
}

/* Prints a value that is neither object nor array. Names come from models. JSON is UTF-8, so other
 * bytes of a name become \xNN, as in the tools' other output. */
std::string scalarText(const Json &json)
{
	try {
		return json.dump();
	} catch (const Json::type_error &) {
		return Json(printable(json.get_ref<const std::string &>())).dump();
	}
}

/* Prints a value as one line if that has at most \a room columns. */
bool printFlat(const Json &json, size_t room, std::string &out)
{
	if (!json.is_structured()) {
		out += scalarText(json);
		return out.size() <= room;
	}
	const bool object = json.is_object();
	if (json.empty()) {
		out += object ? "{}" : "[]";
		return out.size() <= room;
	}
	const char *separator = object ? "{ " : "[ ";
	for (auto entry = json.begin(); entry != json.end(); ++entry) {
		out += separator;
		if (object)
			out += Json(entry.key()).dump() + ": ";
		if (!printFlat(*entry, room, out))
			return false;
		separator = ", ";
	}
	out += object ? " }" : " ]";
	return out.size() <= room;
}

bool isScalar(const Json &json)
{
	return !json.is_structured();
}

/* Prints a value on one line if it fits, else its entries: several per line if all are scalars. */
void print(const Json &json, size_t indent, size_t column, std::string &out)
{
	std::string flat;
	const size_t room = lineColumns > column + 1 ? lineColumns - column - 1 : 0;
	if (isScalar(json) || printFlat(json, room, flat)) {
		out += isScalar(json) ? scalarText(json) : flat;
		return;
	}

	const bool object = json.is_object();
	const bool fill = std::all_of(json.begin(), json.end(), isScalar);
	const size_t start = indent + indentColumns;
	const std::string lineBreak = "\n" + std::string(start, ' ');
	size_t at = lineColumns;

	out += object ? '{' : '[';
	for (auto entry = json.begin(); entry != json.end(); ++entry) {
		std::string text = object ? Json(entry.key()).dump() + ": " : "";
		print(*entry, start, start + text.size(), text);
		if (entry != json.begin())
			out += ',';
		if (fill && at + text.size() + 3 <= lineColumns) {
			out += ' ';
			at += text.size() + 2;
		} else {
			out += lineBreak;
			at = start + text.size();
		}
		out += text;
	}
	out += "\n" + std::string(indent, ' ') + (object ? '}' : ']');
}

} /* namespace */

Result<Json> parseJson(std::string_view text)
{
	Limits limits;

	try {
		return Json::parse(text, [&](int depth, Json::parse_event_t event, Json &parsed) {
			return limits(depth, event, parsed);
		});
	} catch (const Refused &refused) {
		return badText("text", refused.why);
	} catch (const Json::parse_error &error) {
		const std::string_view why = error.what();
		return badText(position(text, error.byte),
			       "is no JSON: " + std::string(why.substr(why.rfind(": ") + 2)));
	} catch (const Json::exception &error) {
		return badText("text", error.what());
	}
}

std::string printJson(const Json &json)
{
	std::string out;

	print(json, 0, 0, out);
	out += '\n';
	return out;
}

} /* namespace nvdla::text */
