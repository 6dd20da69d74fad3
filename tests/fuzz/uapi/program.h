/* SPDX-License-Identifier: MIT */
/*
 * Programs of system calls to the driver, and how they are varied.
 */
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace nvdla::fuzz
{

/** \brief What a call of a program does; caller.cpp has a function for each, in this order */
enum class CallKind : uint8_t {
	Open,
	Close,
	Query,
	BufferCreate,
	BufferClose,
	BufferMap,
	BufferTouch,
	BufferUnmap,
	BufferPrep,
	BufferFini,
	ContextCreate,
	ContextDestroy,
	TaskCreate,
	TaskDestroy,
	Submit,
	SubmitPrepared,
	SyncobjCreate,
	SyncobjDestroy,
	SyncobjSignal,
	SyncobjWait,
	FenceExport,
	BufferExport,
	BufferImport,
	Anything,
	DeviceFiles,
	Count,
};

/** \brief One call; what the numbers choose is the caller's business */
struct Call {
	CallKind kind = CallKind::Open;
	std::array<uint32_t, 8> numbers{};
};

using Program = std::vector<Call>;

/** \brief Makes programs, from nothing and from others */
class ProgramDice
{
public:
	static constexpr size_t longest = 24;

	explicit ProgramDice(std::mt19937 &random) : random_(random) {}

	/** \return calls that set something up, and random ones behind them */
	Program make();
	/** \brief A program like \a program, with something of \a other in it at times */
	Program vary(Program program, const Program &other);

private:
	uint32_t below(size_t end) { return static_cast<uint32_t>(random_() % end); }
	uint32_t number();
	Call call();

	std::mt19937 &random_;
};

/** \return the program in a line, for people: kinds and numbers of its calls */
std::string describe(const Program &program);

} /* namespace nvdla::fuzz */
