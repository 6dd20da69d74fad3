/* SPDX-License-Identifier: MIT */
#include <map>

#include <gtest/gtest.h>

#include "timing/chip.h"

using namespace nvdla::sim;

namespace
{

std::string set(Chip &chip, const std::string &name, const std::string &value)
{
	for (const ChipOption &option : chipOptions())
		if (name == option.name)
			return option.set(chip, value);
	return "no such option";
}

TEST(ChipText, TakesUnits)
{
	Chip chip;

	EXPECT_EQ(set(chip, "clock", "800MHz"), "");
	EXPECT_EQ(set(chip, "dram", "12.8GB/s"), "");
	EXPECT_EQ(set(chip, "dram-latency", "0.25us"), "");
	EXPECT_EQ(set(chip, "sram-latency", "0ns"), "");
	EXPECT_EQ(set(chip, "interrupt-gap", "5us"), "");
	EXPECT_EQ(chip.clock, 800e6);
	EXPECT_EQ(chip.dram, 12.8e9);
	const TimingParameters parameters = chip.parameters();
	EXPECT_EQ(parameters.mc.sharedBytesPerCycle, 16);
	EXPECT_EQ(parameters.mc.latency, 200U);
	EXPECT_EQ(parameters.cv.latency, 0U);
	EXPECT_EQ(parameters.interruptCycles, 4000U);
}

TEST(ChipText, NoMemoryIsWiderThanThePorts)
{
	Chip chip;

	EXPECT_EQ(set(chip, "dram", "1000GB/s"), "");
	EXPECT_EQ(set(chip, "sram", "1000GB/s"), "");
	const TimingParameters full = chip.parameters().seenBy(nvFullTiming);
	EXPECT_EQ(full.mc.bytesPerCycle, 64);
	EXPECT_EQ(full.mc.readRate(), 64);
	EXPECT_EQ(full.cv.bytesPerCycle, 64);
	const TimingParameters small = chip.parameters().seenBy(nvSmallTiming);
	EXPECT_EQ(small.mc.readRate(), 8);
	EXPECT_EQ(small.mc.sharedBytesPerCycle, 16);
}

TEST(ChipText, RefusalsNameTheForms)
{
	const std::map<std::string, std::vector<std::string>> bad = {
		{ "clock",
		  { "", "1", "GHz", "1Ghz", "1 GHz", "-1GHz", "0Hz", "nanGHz", "infGHz",
		    "1e30GHz" } },
		{ "dram", { "10", "10GB", "10Gb/s", "0GB/s", "-3GB/s", "1e300GB/s" } },
		{ "dram-latency", { "100", "100 ns", "-1ns", "2s", "1h" } },
	};

	for (const auto &[name, values] : bad) {
		for (const std::string &value : values) {
			Chip chip;
			const std::string said = set(chip, name, value);
			EXPECT_NE(said, "") << name << " " << value;
			EXPECT_NE(said.find('"' + value + '"'), std::string::npos) << said;
			EXPECT_EQ(chip.text(), Chip().text()) << "a refused value is not taken";
		}
	}
	Chip chip;
	EXPECT_EQ(
		set(chip, "dram", "10GB"),
		"\"10GB\" is not a bandwidth: a number and GB/s, MB/s, kB/s or B/s, as in 10GB/s");
	EXPECT_EQ(set(chip, "clock", "0Hz"), "\"0Hz\" is too small");
}

TEST(ChipText, IsReadable)
{
	Chip chip;

	EXPECT_EQ(chip.text(), "1 GHz, DRAM 10 GB/s after 100 ns, SRAM 25 GB/s after 20 ns");
	chip.clock = 750e6;
	chip.dram = 850e6;
	chip.interruptGap = 12.5e-6;
	EXPECT_EQ(chip.text(), "750 MHz, DRAM 850 MB/s after 100 ns, SRAM 25 GB/s after 20 ns, "
			       "12.5 us for an interrupt");
}

} /* namespace */
