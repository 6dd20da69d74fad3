/* SPDX-License-Identifier: MIT */
/* Values with a table of members as JSON objects and back. */
#pragma once

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "json_value.h"
#include "lists.h"

namespace nvdla::text
{

template<typename T>
Json toJson(const T &value, NameOf nameOf = nullptr);

template<typename T>
Result<void> fromJson(const Json &json, const std::string &path, T &value, NameOf nameOf = nullptr);

template<typename T>
constexpr bool hasMembers = std::tuple_size_v<std::remove_const_t<decltype(members<T>)>> != 0;

template<typename T>
inline constexpr bool isList = false;
template<typename T>
inline constexpr bool isList<std::vector<T>> = true;

/** \return a list of the set bits: their names, or the numbers of bits without a name */
Json bitsToJson(uint16_t bits, NameOf nameOf);
Result<uint16_t> bitsFromJson(const Json &json, const std::string &path, NameOf nameOf);

/** \brief Read a version, such as "0.12.3" */
Result<Version> versionFromJson(const Json &json, const std::string &path);

/** \brief Refuse fields that are neither members of a \a T nor among \a others */
template<typename T>
Result<void> checkKeys(const Json &json, const std::string &path,
		       std::initializer_list<std::string_view> others = {})
{
	std::vector<std::string_view> known(others);
	std::apply([&](const auto &...member) { (known.emplace_back(member.name), ...); },
		   members<T>);
	if (!json.is_object())
		return badText(path, fmt::format("is {}, must be an object with the fields {}",
						 quote(json), fmt::join(known, ", ")));
	for (const auto &[key, value] : json.items()) {
		if (std::find(known.begin(), known.end(), key) == known.end())
			return badText(
				fieldPath(path, key),
				fmt::format("is no field; those are {}", fmt::join(known, ", ")));
	}
	return {};
}

template<typename T, typename M>
void writeMember(const Member<T, M> &member, const T &value, Json &json)
{
	json[member.name] = toJson(value.*member.member, member.nameOf);
}

template<typename T>
void writeMember(const Bits<T> &member, const T &value, Json &json)
{
	json[member.name] = bitsToJson(value.*member.member, member.nameOf);
}

template<typename T, typename M>
void writeMember(const Optional<T, M> &member, const T &value, Json &json)
{
	if (!(value.*member.member).empty())
		json[member.name] = toJson(value.*member.member);
}

template<typename T, typename M>
Result<void> readMember(const Member<T, M> &member, const Json &json, const std::string &path,
			T &value)
{
	auto field = findField(json, path, member.name);
	if (!field)
		return forward(field);
	return fromJson(**field, fieldPath(path, member.name), value.*member.member, member.nameOf);
}

template<typename T>
Result<void> readMember(const Bits<T> &member, const Json &json, const std::string &path, T &value)
{
	auto field = findField(json, path, member.name);
	if (!field)
		return forward(field);
	return bitsFromJson(**field, fieldPath(path, member.name), member.nameOf)
		.map([&](uint16_t bits) { value.*member.member = bits; });
}

template<typename T, typename M>
Result<void> readMember(const Optional<T, M> &member, const Json &json, const std::string &path,
			T &value)
{
	if (!json.is_object() || !json.contains(member.name))
		return {};
	return fromJson(json[member.name], fieldPath(path, member.name), value.*member.member);
}

template<typename T, typename V>
void writeMember(const Optional<T, std::optional<V>> &member, const T &value, Json &json)
{
	if (value.*member.member)
		json[member.name] = toJson(*(value.*member.member));
}

template<typename T, typename V>
Result<void> readMember(const Optional<T, std::optional<V>> &member, const Json &json,
			const std::string &path, T &value)
{
	if (!json.is_object() || !json.contains(member.name))
		return {};
	return fromJson(json[member.name], fieldPath(path, member.name),
			(value.*member.member).emplace());
}

/** \brief Write the members of \a value into the object \a json */
template<typename T>
void writeMembers(const T &value, Json &json)
{
	std::apply([&](const auto &...member) { (writeMember(member, value, json), ...); },
		   members<T>);
}

/** \brief Read the members of \a value from the object \a json; stops at the first error */
template<typename T>
Result<void> readMembers(const Json &json, const std::string &path, T &value)
{
	Result<void> done;

	std::apply(
		[&](const auto &...member) {
			((done = readMember(member, json, path, value)) && ...);
		},
		members<T>);
	return done;
}

template<typename T>
Json toJson(const T &value, NameOf nameOf)
{
	if constexpr (std::is_same_v<T, std::string>) {
		return value;
	} else if constexpr (std::is_same_v<T, Version>) {
		return toString(value);
	} else if constexpr (std::is_enum_v<T>) {
		return namedToJson(static_cast<uint64_t>(value), nameOf);
	} else if constexpr (std::is_same_v<T, float>) {
		return floatToJson(value);
	} else if constexpr (std::is_signed_v<T>) {
		return int64_t{ value };
	} else if constexpr (std::is_unsigned_v<T>) {
		return namedToJson(value, nameOf);
	} else if constexpr (hasMembers<T>) {
		Json json = Json::object();
		writeMembers(value, json);
		return json;
	} else {
		Json json = Json::array();
		for (const auto &entry : value)
			json.push_back(toJson(entry));
		return json;
	}
}

template<typename T>
Result<void> listFromJson(const Json &json, const std::string &path, std::vector<T> &list)
{
	if (!json.is_array())
		return badText(path, fmt::format("is {}, must be an array", quote(json)));
	for (size_t i = 0; i < json.size(); i++) {
		auto done = fromJson(json[i], fmt::format("{}[{}]", path, i), list.emplace_back());
		if (!done)
			return done;
	}
	return {};
}

template<typename T>
Result<void> fromJson(const Json &json, const std::string &path, T &value, NameOf nameOf)
{
	/*
	 * Generic, because a lambda that assigns to \a value itself would not compile for arrays.
	 */
	const auto keep = [](auto &into) {
		return [&into](auto read) {
			into = static_cast<std::decay_t<decltype(into)>>(read);
		};
	};

	if constexpr (std::is_same_v<T, std::string>) {
		return stringValue(json, path).map(keep(value));
	} else if constexpr (std::is_same_v<T, Version>) {
		return versionFromJson(json, path).map(keep(value));
	} else if constexpr (std::is_enum_v<T>) {
		return unsignedValue(json, path,
				     std::numeric_limits<std::underlying_type_t<T>>::max(), nameOf)
			.map(keep(value));
	} else if constexpr (std::is_same_v<T, float>) {
		return floatValue(json, path).map(keep(value));
	} else if constexpr (std::is_signed_v<T>) {
		return signedValue(json, path, std::numeric_limits<T>::min(),
				   std::numeric_limits<T>::max())
			.map(keep(value));
	} else if constexpr (std::is_unsigned_v<T>) {
		return unsignedValue(json, path, std::numeric_limits<T>::max(), nameOf)
			.map(keep(value));
	} else if constexpr (hasMembers<T>) {
		return checkKeys<T>(json, path).and_then([&] {
			return readMembers(json, path, value);
		});
	} else if constexpr (isList<T>) {
		return listFromJson(json, path, value);
	} else {
		if (!json.is_array() || json.size() != std::size(value))
			return badText(path, fmt::format("is {}, must be an array of {}",
							 quote(json), std::size(value)));
		for (size_t i = 0; i < std::size(value); i++) {
			auto done = fromJson(json[i], fmt::format("{}[{}]", path, i), value[i]);
			if (!done)
				return done;
		}
		return {};
	}
}

} /* namespace nvdla::text */
