/* SPDX-License-Identifier: MIT */
#include "nvdla/hw/register_table.h"
#include "nvdla/hw/registers.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference_data.h"

namespace
{

namespace fs = std::filesystem;

/*
 * Registers that do nothing but store, made from the table alone: masks, reset values, register
 * groups, write-one-to-clear. Enough for traces that enable no engine.
 */
class StorageModel
{
public:
	StorageModel()
	{
		for (const nvdla_unit_info &unit : nvdla_units)
			for (unsigned int index = 0; index < unit.count; ++index)
				add(unit, unit.registers[index]);

		/* The buffer is cleared long before the first access of a trace. */
		entries_.at(NVDLA_CDMA_S_CBUF_FLUSH_STATUS).value[0] = 1;
	}

	bool has(unsigned int address) const { return entries_.contains(address); }

	unsigned int read(unsigned int address) const
	{
		const Entry &entry = entries_.at(address);

		return entry.value[group(entry)] & entry.info->read_mask;
	}

	void write(unsigned int address, unsigned int word)
	{
		Entry &entry = entries_.at(address);
		unsigned int &value = entry.value[group(entry)];
		const unsigned int mask = entry.info->write_mask;

		if (entry.info->flags & NVDLA_REGISTER_W1C)
			value &= ~(word & mask);
		else
			value = (value & ~mask) | (word & mask);
	}

private:
	struct Entry {
		const nvdla_register_info *info;
		unsigned int pointer;
		unsigned int value[2];
	};

	void add(const nvdla_unit_info &unit, const nvdla_register_info &info)
	{
		entries_[info.address] = { &info, unit.base + 4, { info.reset, info.reset } };
	}

	unsigned int group(const Entry &entry) const
	{
		if (!(entry.info->flags & NVDLA_REGISTER_SHADOWED))
			return 0;

		return entries_.at(entry.pointer).value[0] & NVDLA_CDMA_S_POINTER__PRODUCER;
	}

	std::map<unsigned int, Entry> entries_;
};

/* Replays one trace; returns the number of values compared. */
unsigned int replay(const fs::path &trace)
{
	std::ifstream file(trace);
	StorageModel model;
	unsigned int compared = 0;
	std::string line;

	EXPECT_TRUE(file.is_open()) << trace;
	while (std::getline(file, line)) {
		std::istringstream words(line.substr(0, line.find('#')));
		std::string command;
		unsigned int address = 0, mask = 0, value = 0;

		if (!(words >> command))
			continue;

		words >> std::hex >> address;
		if (!words || !model.has(address)) {
			ADD_FAILURE() << trace << ": no such register: " << line;
			continue;
		}
		if (command == "write" && words >> value) {
			model.write(address, value);
		} else if (command == "read" && words >> mask >> value) {
			EXPECT_EQ(model.read(address) & mask, value & mask)
				<< trace << ": " << line;
			++compared;
		} else {
			ADD_FAILURE() << trace << ": not understood: " << line;
		}
	}

	return compared;
}

std::vector<fs::path> tracesOf(const fs::path &folder, const std::string &kind)
{
	std::vector<fs::path> traces;

	for (const fs::directory_entry &entry : fs::directory_iterator(folder))
		if (entry.path().filename().string().starts_with("regs-" + kind + "-"))
			traces.push_back(entry.path() / "trace");

	return traces;
}

class RegisterVectors : public testing::TestWithParam<const char *>
{
};

/* The hardware's own answers: what reads back after reset, and after writes of any pattern. */
TEST_P(RegisterVectors, TableAnswersLikeTheHardware)
{
	const fs::path folder = nvdla::test::referenceData() / "vectors/regs";
	unsigned int compared = 0;

	if (!fs::is_directory(folder))
		GTEST_SKIP() << "no golden vectors in " << folder << " (set NVDLA_REFERENCE_DATA)";

	const std::vector<fs::path> traces = tracesOf(folder, GetParam());

	EXPECT_EQ(traces.size(), 16U);
	for (const fs::path &trace : traces)
		compared += replay(trace);

	EXPECT_GT(compared, 500U);
}

INSTANTIATE_TEST_SUITE_P(Registers, RegisterVectors, testing::Values("reset", "wmask"),
			 [](const auto &info) { return std::string(info.param); });

} /* namespace */
