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

/* The 128-bit hash FNV-1a, by its published definition. */
class Sum
{
public:
	Sum &add(std::span<const std::byte> bytes)
	{
		for (const std::byte byte : bytes)
			state_ = (state_ ^ static_cast<uint8_t>(byte)) * prime;
		return *this;
	}

	using Value = std::array<uint64_t, 2>;

	Value value() const
	{
		return { static_cast<uint64_t>(state_ >> 64), static_cast<uint64_t>(state_) };
	}

private:
	__extension__ using Wide = unsigned __int128;
	static constexpr Wide prime = (Wide{ 1 } << 88) + 0x13b;

	Wide state_ = (Wide{ 0x6c62272e07bb0142 } << 64) + 0x62b821756295c58d;
};

} /* namespace */

bool Cache::keeps(const CompileOptions &options) const
{
	return !folder_.empty() && !buildId().empty() && !options.calibration;
}

std::string Cache::pathOf(std::span<const std::byte> model, const CompileOptions &options) const
{
	std::string how = fmt::format(
		"{} {} {} {} {} {}\n", options.everyTensor, static_cast<int>(options.foldSums),
		static_cast<int>(options.host), options.sramBytes, options.core.name,
		options.strategy ? toString(*options.strategy) : "");
	for (const InputShape &shape : options.shapes)
		how += toString(shape) + '\n';
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
		return fail(ErrorCode::InvalidArgument, "keep compiled models", folder_,
			    failed.message());
	return {};
}

std::optional<CompiledModel> Cache::find(std::span<const std::byte> model,
					 const CompileOptions &options) const
{
	if (!keeps(options))
		return {};
	const auto entry = readWholeFile(pathOf(model, options), maxEntryBytes);
	Sum::Value sum;

	/* A file of the cache contains a checksum of the loadable and then the loadable. */
	if (!entry || entry->size() < sizeof(sum))
		return {};
	std::memcpy(&sum, entry->data(), sizeof(sum));
	const auto written = std::span(*entry).subspan(sizeof(sum));
	if (Sum().add(written).value() != sum)
		return {};
	auto loadable = Loadable::read(written);
	if (!loadable)
		return {};
	return CompiledModel{ std::move(*loadable), {} };
}

Result<void> Cache::keep(std::span<const std::byte> model, const CompiledModel &compiled,
			 const CompileOptions &options) const
{
	if (!keeps(options))
		return {};
	auto loadable = compiled.loadable.write();
	std::error_code failed;

	if (!loadable)
		return forward(loadable);
	const Sum::Value sum = Sum().add(*loadable).value();
	std::vector<std::byte> entry(sizeof(sum));
	std::memcpy(entry.data(), &sum, sizeof(sum));
	entry.insert(entry.end(), loadable->begin(), loadable->end());

	/* writeWholeFile() gives the file its name only when it is complete, so other processes
	 * never see a part of it. */
	std::filesystem::create_directories(folder_, failed);
	return writeWholeFile(pathOf(model, options), entry);
}

} /* namespace nvdla::plugin */
