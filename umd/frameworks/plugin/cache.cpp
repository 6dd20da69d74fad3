/* SPDX-License-Identifier: MIT */
#include "cache.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>
#include <unistd.h>

#include "base/io/file.h"
#include "build_id.h"

namespace nvdla::plugin
{

namespace
{

constexpr uint64_t maxEntryBytes = uint64_t{ 1 } << 32;

/* The sum FNV-1a of 128 bits, by its published definition. */
class Sum
{
public:
	Sum &add(std::span<const std::byte> bytes)
	{
		for (const std::byte byte : bytes)
			state_ = (state_ ^ static_cast<uint8_t>(byte)) * prime;
		return *this;
	}

	std::array<uint64_t, 2> value() const
	{
		return { static_cast<uint64_t>(state_ >> 64), static_cast<uint64_t>(state_) };
	}

private:
	__extension__ using Wide = unsigned __int128;
	static constexpr Wide prime = (Wide{ 1 } << 88) + 0x13b;

	Wide state_ = (Wide{ 0x6c62272e07bb0142 } << 64) + 0x62b821756295c58d;
};

/*
 * What an entry begins with; a byte for each input and output follows with its order, and for each
 * input whether it has 8 bits; then the loadable.
 */
struct Header {
	std::array<uint64_t, 2> sum; /* of all that follows it */
	uint32_t inputs;
	uint32_t outputs;
};

std::vector<ElementOrder> ordersOf(std::span<const std::byte> bytes)
{
	std::vector<ElementOrder> orders;

	for (const std::byte byte : bytes)
		orders.push_back(static_cast<ElementOrder>(byte));
	return orders;
}

template<typename T>
void append(std::vector<std::byte> &bytes, const T &from)
{
	const auto part = std::as_bytes(std::span(from));

	bytes.insert(bytes.end(), part.begin(), part.end());
}

std::span<const std::byte> afterSum(std::span<const std::byte> entry)
{
	return entry.subspan(sizeof(Header::sum));
}

} /* namespace */

bool Cache::keeps(const CompileOptions &options) const
{
	return !folder_.empty() && !buildId().empty() && !options.calibration;
}

std::string Cache::pathOf(std::span<const std::byte> model, const CompileOptions &options) const
{
	const std::string how =
		fmt::format("{} {} {} {} {}\n", options.everyTensor,
			    static_cast<int>(options.foldSums), options.sramBytes,
			    options.core.name, options.strategy ? toString(*options.strategy) : "");
	const auto sum = Sum().add(buildId()).add(std::as_bytes(std::span(how))).add(model).value();

	return fmt::format("{}/{:016x}{:016x}.nvdla-cache", folder_, sum[0], sum[1]);
}

Result<void> Cache::check() const
{
	std::error_code failed;

	if (folder_.empty())
		return {};
	std::filesystem::create_directories(folder_, failed);
	if (!failed && access(folder_.c_str(), W_OK | X_OK))
		failed = std::error_code(errno, std::generic_category());
	if (!failed && !std::filesystem::is_directory(folder_))
		failed = std::make_error_code(std::errc::not_a_directory);
	if (failed)
		return fail(ErrorCode::Io, "keep compiled models", folder_, failed.message());
	return {};
}

std::optional<CompiledModel> Cache::find(std::span<const std::byte> model,
					 const CompileOptions &options) const
{
	if (!keeps(options))
		return {};
	const auto entry = readWholeFile(pathOf(model, options), maxEntryBytes);
	Header header;

	if (!entry || entry->size() < sizeof(header))
		return {};
	std::memcpy(&header, entry->data(), sizeof(header));
	const auto rest = std::span(*entry).subspan(sizeof(header));
	const uint64_t orders = uint64_t{ header.inputs } + header.outputs;
	const uint64_t described = orders + header.inputs;
	if (Sum().add(afterSum(*entry)).value() != header.sum || described > rest.size())
		return {};
	auto loadable = Loadable::read(rest.subspan(described));
	if (!loadable)
		return {};
	CompiledModel compiled{ std::move(*loadable),
				{},
				ordersOf(rest.first(header.inputs)),
				ordersOf(rest.subspan(header.inputs, header.outputs)),
				{} };
	for (const std::byte is8Bits : rest.subspan(orders, header.inputs))
		compiled.inputsOf8Bits.push_back(is8Bits != std::byte{});
	return compiled;
}

void Cache::keep(std::span<const std::byte> model, const CompiledModel &compiled,
		 const CompileOptions &options) const
{
	if (!keeps(options))
		return;
	const auto loadable = compiled.loadable.write();
	std::error_code failed;

	if (!loadable)
		return;
	Header header{ {},
		       static_cast<uint32_t>(compiled.inputOrders.size()),
		       static_cast<uint32_t>(compiled.outputOrders.size()) };
	std::vector<std::byte> entry;
	append(entry, std::span(&header, 1));
	append(entry, compiled.inputOrders);
	append(entry, compiled.outputOrders);
	for (size_t i = 0; i < compiled.inputOrders.size(); i++)
		entry.push_back(std::byte{ i < compiled.inputsOf8Bits.size() &&
					   compiled.inputsOf8Bits[i] });
	append(entry, *loadable);
	header.sum = Sum().add(afterSum(entry)).value();
	std::memcpy(entry.data(), &header, sizeof(header));

	/* Others see all of it or nothing. */
	std::filesystem::create_directories(folder_, failed);
	static_cast<void>(writeWholeFile(pathOf(model, options), entry));
}

} /* namespace nvdla::plugin */
