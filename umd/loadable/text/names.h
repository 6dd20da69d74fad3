/* SPDX-License-Identifier: MIT */
/* Names of the values that descriptors and lists have, for the text form. */
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvdla::text
{

/** \brief Name of a value; empty if it has none */
using NameOf = std::string (*)(uint64_t value);

/** \brief Values from here on have no names */
constexpr uint64_t namedValues = 64;

/** \return the value with the given name */
std::optional<uint64_t> valueOf(NameOf nameOf, std::string_view name);

/** \return all names, for error messages: "a, b, c" */
std::string allNames(NameOf nameOf);

std::string engineName(uint64_t type);
std::string eventName(uint64_t event);
std::string memoryTypeName(uint64_t type);
std::string precisionName(uint64_t precision);
std::string convModeName(uint64_t mode);
std::string weightFormatName(uint64_t format);
std::string formatName(uint64_t format);
std::string activationName(uint64_t activation);
std::string sdpOpTypeName(uint64_t type);
std::string sdpOpModeName(uint64_t mode);
std::string aluTypeName(uint64_t type);
std::string poolModeName(uint64_t mode);
std::string rubikModeName(uint64_t mode);
std::string lutMethodName(uint64_t method);
std::string lutPriorityName(uint64_t priority);
std::string emuOpName(uint64_t type);
std::string elementFunctionName(uint64_t function);

std::string interfaceName(uint64_t interface);
std::string domainName(uint64_t domain);
std::string memoryFlagName(uint64_t bit);
std::string eventOpName(uint64_t op);
std::string relocTypeName(uint64_t type);
std::string tensorFormatName(uint64_t format);
std::string elementTypeName(uint64_t type);
std::string categoryName(uint64_t category);
std::string elementOrderName(uint64_t order);

} /* namespace nvdla::text */
