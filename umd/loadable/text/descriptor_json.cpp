/* SPDX-License-Identifier: MIT */
#include "descriptor_json.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace nvdla::text
{

namespace
{

uint64_t loadUnsigned(std::span<const std::byte> bytes)
{
	uint64_t value = 0;

	std::memcpy(&value, bytes.data(), bytes.size());
	return value;
}

int64_t loadSigned(std::span<const std::byte> bytes)
{
	const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes.size());

	return static_cast<int64_t>(loadUnsigned(bytes) << unused) >> unused;
}

void store(std::span<std::byte> bytes, uint64_t value)
{
	std::memcpy(bytes.data(), &value, bytes.size());
}

std::span<std::byte> elementOf(const Field &field, size_t index, std::span<std::byte> bytes)
{
	return bytes.subspan(field.offset + index * field.bytes, field.bytes);
}

/* Returns whether an entry has the field: entries of older kinds end before the last fields. */
bool isIn(const Field &field, std::span<const std::byte> bytes)
{
	return field.offset + field.bytes * field.count <= bytes.size();
}

/* Sets the defaults of fields that the text does not have. */
void fillUsual(const Layout &layout, std::span<std::byte> bytes)
{
	for (const Field &field : layout.fields) {
		if (!isIn(field, bytes))
			continue;
		for (size_t i = 0; i < field.count; i++) {
			const auto element = elementOf(field, i, bytes);
			if (field.kind == Kind::Struct)
				fillUsual(*field.layout, element);
			else
				store(element, static_cast<uint64_t>(int64_t{ field.usual }));
		}
	}
}

bool isUsual(const Field &field, std::span<const std::byte> element)
{
	std::vector<std::byte> usual(element.size());

	if (field.kind == Kind::Struct)
		fillUsual(*field.layout, usual);
	else
		store(usual, static_cast<uint64_t>(int64_t{ field.usual }));
	return std::equal(usual.begin(), usual.end(), element.begin());
}

Json describe(const Layout &layout, std::span<const std::byte> bytes);

Json describeElement(const Field &field, std::span<const std::byte> element)
{
	float real = 0.0f;

	switch (field.kind) {
	case Kind::Struct:
		return describe(*field.layout, element);
	case Kind::Float:
		std::memcpy(&real, element.data(), sizeof(real));
		return floatToJson(real);
	case Kind::Signed:
		return loadSigned(element);
	case Kind::Unsigned:
		break;
	}
	return namedToJson(loadUnsigned(element), field.nameOf);
}

Json describeArray(const Field &field, std::span<const std::byte> bytes)
{
	Json json = field.nameOf ? Json::object() : Json::array();
	size_t count = field.count;

	while (count && isUsual(field, bytes.subspan((count - 1) * field.bytes, field.bytes)))
		count--;
	for (size_t i = 0; i < count; i++) {
		const auto element = bytes.subspan(i * field.bytes, field.bytes);
		if (!field.nameOf)
			json.push_back(describeElement(field, element));
		else if (!isUsual(field, element))
			json[field.nameOf(i)] = describeElement(field, element);
	}
	return json;
}

Json describe(const Layout &layout, std::span<const std::byte> bytes)
{
	Json json = Json::object();

	for (const Field &field : layout.fields) {
		if (!isIn(field, bytes))
			continue;
		const auto own = bytes.subspan(field.offset, field.bytes * field.count);
		Json value =
			field.count > 1 ? describeArray(field, own) : describeElement(field, own);
		const bool usual = field.count > 1 ? value.empty() : isUsual(field, own);
		if (!field.optional || !usual)
			json[field.name] = std::move(value);
	}
	return json;
}

Result<void> encode(const Layout &layout, const Json &json, const std::string &path,
		    std::span<std::byte> bytes);

Result<void> encodeElement(const Field &field, const Json &json, const std::string &path,
			   std::span<std::byte> element)
{
	const unsigned bits = 8 * static_cast<unsigned>(element.size());

	switch (field.kind) {
	case Kind::Struct:
		return encode(*field.layout, json, path, element);
	case Kind::Float:
		return floatValue(json, path).map([&](float value) {
			std::memcpy(element.data(), &value, sizeof(value));
		});
	case Kind::Signed: {
		const int64_t max = std::numeric_limits<int64_t>::max() >> (64 - bits);
		return signedValue(json, path, -max - 1, max).map([&](int64_t value) {
			store(element, static_cast<uint64_t>(value));
		});
	}
	case Kind::Unsigned:
		break;
	}
	return unsignedValue(json, path, ~uint64_t{ 0 } >> (64 - bits), field.nameOf)
		.map([&](uint64_t value) { store(element, value); });
}

Result<void> encodeKeyed(const Field &field, const Json &json, const std::string &path,
			 std::span<std::byte> bytes)
{
	for (const auto &[key, value] : json.items()) {
		const auto index = valueOf(field.nameOf, key);
		if (!index || *index >= field.count)
			return badText(fieldPath(path, key),
				       "is unknown; known are " + allNames(field.nameOf));
		auto done = encodeElement(field, value, fieldPath(path, key),
					  elementOf(field, *index, bytes));
		if (!done)
			return done;
	}
	return {};
}

Result<void> encodeArray(const Field &field, const Json &json, const std::string &path,
			 std::span<std::byte> bytes)
{
	if (field.nameOf && json.is_object())
		return encodeKeyed(field, json, path, bytes);
	if (field.nameOf || !json.is_array() || json.size() > field.count)
		return badText(
			path, field.nameOf ? fmt::format("is {}, must be an object with some of {}",
							 quote(json), allNames(field.nameOf))
					   : fmt::format("is {}, must be an array of at most {}",
							 quote(json), field.count));
	for (size_t i = 0; i < json.size(); i++) {
		auto done = encodeElement(field, json[i], fmt::format("{}[{}]", path, i),
					  elementOf(field, i, bytes));
		if (!done)
			return done;
	}
	return {};
}

std::string fieldNames(const Layout &layout, std::span<const std::byte> bytes)
{
	std::string names;

	for (const Field &field : layout.fields) {
		if (isIn(field, bytes))
			names += (names.empty() ? "" : ", ") + std::string(field.name);
	}
	return names;
}

Result<void> checkFields(const Layout &layout, const Json &json, const std::string &path,
			 std::span<const std::byte> bytes)
{
	if (!json.is_object())
		return badText(path, fmt::format("is {}, must be an object with the fields of a {}",
						 quote(json), layout.name));
	for (const auto &[key, value] : json.items()) {
		const bool known =
			std::any_of(layout.fields.begin(), layout.fields.end(),
				    [&name = key, bytes](const Field &field) {
					    return field.name == name && isIn(field, bytes);
				    });
		if (!known)
			return badText(fieldPath(path, key),
				       fmt::format("is no field of a {}; those are {}", layout.name,
						   fieldNames(layout, bytes)));
	}
	return {};
}

Result<void> encode(const Layout &layout, const Json &json, const std::string &path,
		    std::span<std::byte> bytes)
{
	if (auto checked = checkFields(layout, json, path, bytes); !checked)
		return checked;
	for (const Field &field : layout.fields) {
		if (field.optional && !json.contains(field.name))
			continue;
		const auto value = findField(json, path, field.name);
		if (!value)
			return tl::unexpected(value.error());
		const std::string where = fieldPath(path, field.name);
		auto done = field.count > 1 ? encodeArray(field, **value, where, bytes)
					    : encodeElement(field, **value, where,
							    elementOf(field, 0, bytes));
		if (!done)
			return done;
	}
	return {};
}

/* If a kind has several layouts, an entry is an object with one field, named after its layout. */
Result<void> encodeChoice(const ListKind &kind, const Json &json, const std::string &path,
			  std::span<std::byte> bytes)
{
	std::string names;

	for (const Layout *layout : kind.entries) {
		if (json.is_object() && json.size() == 1 && json.contains(layout->name)) {
			fillUsual(*layout, bytes);
			return encode(*layout, json[layout->name], fieldPath(path, layout->name),
				      bytes);
		}
		names += (names.empty() ? "" : ", ") + std::string(layout->name);
	}
	return badText(path, fmt::format("is {}, must be an object with one field, one of {}",
					 quote(json), names));
}

} /* namespace */

std::optional<Json> describeList(const ListKind &kind, std::span<const std::byte> bytes,
				 std::span<const uint8_t> types)
{
	const bool choice = kind.entries.size() > 1;
	const size_t count = bytes.size() / kind.stride;
	Json json = Json::array();

	if (choice && types.size() < count)
		return std::nullopt;
	for (size_t i = 0; i < count; i++) {
		const size_t type = choice ? types[i] : 0;
		if (type >= kind.entries.size())
			return std::nullopt;
		const Layout &layout = *kind.entries[type];
		Json entry = describe(layout, bytes.subspan(i * kind.stride, kind.stride));
		json.push_back(choice ? Json{ { layout.name, std::move(entry) } }
				      : std::move(entry));
	}
	const auto again = encodeList(kind, json, "");
	if (!again || !std::equal(again->begin(), again->end(), bytes.begin(), bytes.end()))
		return std::nullopt;
	return json;
}

Result<std::vector<std::byte>> encodeList(const ListKind &kind, const Json &json,
					  const std::string &path)
{
	if (!json.is_array())
		return badText(path, fmt::format("is {}, must be an array", quote(json)));

	std::vector<std::byte> bytes(json.size() * kind.stride);
	for (size_t i = 0; i < json.size(); i++) {
		const auto entry = std::span(bytes).subspan(i * kind.stride, kind.stride);
		const std::string where = fmt::format("{}[{}]", path, i);
		Result<void> done;
		if (kind.entries.size() > 1) {
			done = encodeChoice(kind, json[i], where, entry);
		} else {
			fillUsual(*kind.entries[0], entry);
			done = encode(*kind.entries[0], json[i], where, entry);
		}
		if (!done)
			return forward(done);
	}
	return bytes;
}

} /* namespace nvdla::text */
