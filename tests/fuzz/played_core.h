/* SPDX-License-Identifier: MIT */
/*
 * A core on which a program is played, and what it leaves behind.
 */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <nvdla/hw/registers.h>

#include "core/core.h"
#include "core/register_table.h"
#include "element_memories.h"
#include "operation_dice.h"

namespace nvdla::fuzz
{

/** \brief What a program leaves behind, which must not depend on how many threads have played it */
struct Remains {
	bool operator==(const Remains &) const = default;

	std::string dram, cvsram; /* whose bytes are compared at once */
	std::vector<uint32_t> registers;
	std::set<std::string> errors;

	/** \return it is said that the host has run out of memory */
	bool lacksMemory() const
	{
		return std::ranges::any_of(errors, [](const std::string &error) {
			return error.find(sim::kNoHostMemory) != std::string::npos;
		});
	}
};

/** \brief How a core plays, but for its threads */
struct PlayOptions {
	sim::ConvOptions conv = {};
	bool hidesMemory = false; /**< engines copy all that they read and write */
};

class PlayedCore
{
public:
	/** \param geometry must outlive this object */
	PlayedCore(unsigned int threads, const PlayOptions &options,
		   const sim::Geometry &geometry = sim::nvFull)
		: geometry_(geometry),
		  dram_(options.hidesMemory
				? std::make_unique<sim::test::HiddenMemory>(0, kDramBytes)
				: std::make_unique<sim::RamMemory>(0, kDramBytes)),
		  core_(config(threads, options), *dram_, [] {})
	{
	}

	/** \brief Reset the core, and fill its memory from \a image, as long as DRAM, and with
	 * patches */
	void prepare(const Program &program, std::span<const std::byte> image)
	{
		core_.reset();
		errors_.clear();
		dram_->write(0, image);
		core_.cvsram().write(kCvsramBase, image.last(kCvsramBytes));
		for (const Program::Patch &patch : program.patches)
			(patch.ram == sim::RamType::Mc ? *dram_ : core_.cvsram())
				.write(patch.address, patch.bytes);
	}

	/** \brief Play a program until nothing more happens */
	void play(const Program &program)
	{
		write(program);
		core_.waitIdle();
	}

	/** \brief The same, but no longer; what is not done then is given up */
	void playFor(const Program &program, std::chrono::milliseconds longest)
	{
		const auto end = std::chrono::steady_clock::now() + longest;

		write(program);
		while (!core_.idle() && std::chrono::steady_clock::now() < end)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		core_.reset();
	}

	Remains remains()
	{
		Remains left;

		for (size_t unit = 0; unit < sim::unitCount; unit++)
			addRegisters(static_cast<sim::Unit>(unit), left.registers);
		left.dram.resize(kDramBytes);
		left.cvsram.resize(kCvsramBytes);
		dram_->read(0, std::as_writable_bytes(std::span(left.dram)));
		core_.cvsram().read(kCvsramBase, std::as_writable_bytes(std::span(left.cvsram)));
		const std::lock_guard lock(mutex_);
		left.errors = errors_;
		return left;
	}

private:
	void write(const Program &program)
	{
		for (const sim::CsbWrite &write : program.writes)
			core_.csbWrite(geometry_.addressOf(write.byteOffset), write.value);
	}

	sim::CoreConfig config(unsigned int threads, const PlayOptions &options)
	{
		sim::CoreConfig config;

		config.geometry = geometry_;
		config.threads = threads;
		config.conv = options.conv;
		config.cvsramBase = kCvsramBase;
		config.cvsramSize = std::min(geometry_.cvsramSize, kCvsramBytes);
		config.diagnostics = [this](const sim::GuestError &error) {
			const std::lock_guard lock(mutex_);
			errors_.insert(error.unit + ", " + error.where + ": " + error.reason +
				       error.detail);
		};
		return config;
	}

	void addRegisters(sim::Unit unit, std::vector<uint32_t> &values)
	{
		const auto registers = sim::unitRegisters(unit);

		for (uint32_t word = 0; word < registers.size(); word++) {
			const uint32_t name = sim::unitBase(unit) + 4 * word;
			/* A read of these moves on. */
			if (registers[word].name && name != NVDLA_SDP_S_LUT_ACCESS_DATA &&
			    name != NVDLA_CDP_S_LUT_ACCESS_DATA)
				values.push_back(core_.csbRead(geometry_.addressOf(name)));
		}
	}

	const sim::Geometry &geometry_;
	std::mutex mutex_;
	std::set<std::string> errors_;
	const std::unique_ptr<sim::Memory> dram_;
	sim::Core core_;
};

/** \brief Numbers for memory: any, or such that FP16 has neither NaNs nor infinities */
inline std::vector<std::byte> memoryImage(uint32_t seed, bool isTame)
{
	constexpr uint32_t kSmall = 0xbfffbfff; /* magnitudes below 2 */
	std::vector<std::byte> image(kDramBytes);
	std::mt19937 random(seed);

	for (size_t at = 0; at < image.size(); at += sizeof(uint32_t)) {
		const uint32_t number = isTame ? random() & kSmall : random();
		std::memcpy(&image[at], &number, sizeof(number));
	}
	return image;
}

} /* namespace nvdla::fuzz */
