/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <initializer_list>

#include <nvdla/tensor.h>

namespace nvdla::text
{

namespace
{

/* Returns names[value]; "" if value has no name. */
std::string pick(uint64_t value, std::initializer_list<const char *> names)
{
	return value < names.size() ? names.begin()[value] : "";
}

} /* namespace */

std::optional<uint64_t> valueOf(NameOf nameOf, std::string_view name)
{
	for (uint64_t value = 0; value < namedValues && !name.empty(); value++) {
		if (nameOf(value) == name)
			return value;
	}
	return std::nullopt;
}

std::string allNames(NameOf nameOf)
{
	std::string all;

	for (uint64_t value = 0; value < namedValues; value++) {
		const std::string name = nameOf(value);
		if (!name.empty())
			all += (all.empty() ? "" : ", ") + name;
	}
	return all;
}

std::string engineName(uint64_t type)
{
	return pick(type, { "bdma", "conv", "sdp", "pdp", "cdp", "rubik" });
}

std::string eventName(uint64_t event)
{
	return pick(event, { "none", "op_completed", "op_programmed", "op_enabled", "cdma_wt_done",
			     "cdma_dt_done" });
}

std::string memoryTypeName(uint64_t type)
{
	return pick(type, { "mc", "cv", "hw" });
}

std::string precisionName(uint64_t precision)
{
	return pick(precision, { "int8", "int16", "fp16" });
}

std::string convModeName(uint64_t mode)
{
	return pick(mode, { "direct", "winograd" });
}

std::string weightFormatName(uint64_t format)
{
	return pick(format, { "uncompressed", "compressed" });
}

std::string formatName(uint64_t format)
{
	constexpr uint64_t formats = static_cast<uint64_t>(PixelFormat::Plain) + 1;
	if (format >= formats)
		return "";
	const std::string name = pixelFormatName(static_cast<PixelFormat>(format));
	return name.starts_with("format ") ? "" : name;
}

std::string activationName(uint64_t activation)
{
	return pick(activation, { "none", "relu", "lut", "prelu" });
}

std::string sdpOpTypeName(uint64_t type)
{
	return pick(type, { "none", "mul", "add", "both" });
}

std::string sdpOpModeName(uint64_t mode)
{
	return pick(mode, { "per_layer", "per_kernel", "per_point" });
}

std::string aluTypeName(uint64_t type)
{
	return pick(type, { "max", "min", "sum", "eql" });
}

std::string poolModeName(uint64_t mode)
{
	return pick(mode, { "avg", "max", "min" });
}

std::string rubikModeName(uint64_t mode)
{
	return pick(mode, { "contract", "split", "merge" });
}

std::string lutMethodName(uint64_t method)
{
	return pick(method, { "exponential", "linear" });
}

std::string lutPriorityName(uint64_t priority)
{
	return pick(priority, { "le", "lo" });
}

std::string emuOpName(uint64_t type)
{
	return pick(type, { "power", "softmax", "reshape", "arg_max", "normalize", "local_response",
			    "log_softmax", "standardize", "largest", "function", "smallest",
			    "normalize_twice", "pack_weights" });
}

std::string interfaceName(uint64_t interface)
{
	return pick(interface, { "none", "dla1", "emu1", "host1" });
}

std::string domainName(uint64_t domain)
{
	return pick(domain, { "system", "sram" });
}

std::string memoryFlagName(uint64_t bit)
{
	return pick(bit, { "alloc", "set", "input", "output", "debug" });
}

std::string eventOpName(uint64_t op)
{
	return pick(op, { "wait", "signal" });
}

std::string relocTypeName(uint64_t type)
{
	return pick(type, { "element", "line", "surface", "tensor" });
}

std::string tensorFormatName(uint64_t format)
{
	return pick(format, { "unknown", "nchw", "nhwc", "ncxhwx" });
}

std::string categoryName(uint64_t category)
{
	return pick(category, { "image", "weight", "feature", "planar", "bias" });
}

std::string elementOrderName(uint64_t order)
{
	return pick(order, { "nchw", "nhwc" });
}

} /* namespace nvdla::text */
