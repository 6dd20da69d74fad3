/* SPDX-License-Identifier: MIT */
/*
 * What existing compilers emit: it has to be accepted, and to compute on the modelled core what
 * the files of the existing stack say.
 */
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include <gtest/gtest.h>
#include <nvdla/loadable.h>
#include <nvdla/task.h>

#include <user/nvdla_engine.h>

#include "core/ram_memory.h"
#include "device/refusal.h"
#include "existing_driver.h"
#include "modelled_core.h"
#include "read_file.h"
#include "reference_data.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

namespace fs = std::filesystem;

constexpr uint64_t pageBytes = 4096;

/* The loadables for nv_full, which is the only variant that the engine has. */
std::vector<fs::path> loadablePaths()
{
	std::vector<fs::path> paths;
	const fs::path folder = referenceData() / "loadables";
	if (!fs::is_directory(folder))
		return paths;
	for (fs::recursive_directory_iterator entry(folder), end; entry != end; ++entry) {
		const std::string name = entry->path().filename().string();
		if (name == "nv_small" || name == "nv_large")
			entry.disable_recursion_pending();
		else if (name.ends_with("_fbuf") || name.ends_with(".nvdla"))
			paths.push_back(entry->path());
	}
	return paths;
}

/* The memories of a loadable, one after the other on pages, as a runtime would place them. */
class Placement
{
public:
	explicit Placement(const Loadable &loadable)
	{
		uint64_t next = 0x80000000;
		for (const Memory &memory : loadable.memories) {
			base_[memory.id] = next;
			size_[memory.id] = (memory.size + pageBytes - 1) / pageBytes * pageBytes;
			next += size_[memory.id] + pageBytes;
		}
	}

	uint64_t base(uint16_t memory) const { return base_.at(memory); }

	nvdla_task_extent extent(const TaskAddress &address) const
	{
		nvdla_task_extent extent = {};
		extent.dma_addr = base(address.memory) + address.offset;
		extent.size = size_.at(address.memory) - address.offset;
		extent.mem_type = NVDLA_MEM_MC;
		extent.present = true;
		return extent;
	}

private:
	std::map<uint16_t, uint64_t> base_;
	std::map<uint16_t, uint64_t> size_;
};

Created createTask(const DlaTask &task, const Placement &placement)
{
	TaskBuilder builder;
	builder.graph = task.graph;
	builder.operations = task.operations;
	builder.surfaces = task.surfaces;
	builder.luts = task.luts;
	builder.extents.clear();
	for (const TaskAddress &address : task.addresses)
		builder.extents.push_back(placement.extent(address));
	return builder.create();
}

void placeContents(const Loadable &loadable, const Placement &placement, sim::Memory &dram)
{
	for (const Memory &memory : loadable.memories)
		for (const MemoryContent &content : memory.contents)
			for (const Blob &blob : loadable.blobs)
				if (blob.name == content.blob)
					dram.write(placement.base(memory.id) + content.offset,
						   std::as_bytes(std::span(blob.data)));
}

/* A result of the existing stack: elements in the order C, H, W behind a header. */
struct Golden {
	uint32_t width, height, channels, lineStride, surfaceStride;
	unsigned int bytes;
	std::vector<std::byte> elements;

	explicit Golden(const fs::path &path)
	{
		const std::string text = readText(path);
		uint32_t header[9] = {};
		std::memcpy(header, text.data(), sizeof(header));
		bytes = header[2] == 40 ? 1 : 2;
		width = header[3];
		height = header[4];
		channels = header[5];
		lineStride = header[6];
		surfaceStride = header[7];
		const auto *first =
			reinterpret_cast<const std::byte *>(text.data()) + sizeof(header);
		elements.assign(first, first + text.size() - sizeof(header));
	}
};

/* The cube that such a picture is of, as it lies in memory. */
std::vector<std::byte> outputOf(sim::Memory &dram, uint64_t base, const Golden &golden)
{
	const uint32_t surfaces = (golden.channels * golden.bytes + 31) / 32;
	std::vector<std::byte> cube((surfaces - 1) * golden.surfaceStride +
				    (golden.height - 1) * golden.lineStride + golden.width * 32);
	dram.read(base, cube);
	return cube;
}

} /* namespace */

TEST(ReferenceLoadables, AreAccepted)
{
	const auto paths = loadablePaths();
	if (paths.empty())
		GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";

	unsigned int accepted = 0;
	for (const fs::path &path : paths) {
		auto loadable = Loadable::readFile(path);
		ASSERT_TRUE(loadable) << path;
		auto tasks = tasksInOrder(*loadable);
		ASSERT_TRUE(tasks) << path;
		const Placement placement(*loadable);
		for (const AnyTask &any : *tasks) {
			const auto *task = std::get_if<DlaTask>(&any);
			if (!task)
				continue;
			const Created created = createTask(*task, placement);
			/* Files whose compiler lost track of addresses may be refused. */
			if (path.string().find("inception_misaligned") != std::string::npos)
				continue;
			EXPECT_EQ(created.result, 0)
				<< path << " operation " << created.error.error.operation << ": "
				<< describeRefusal(created.error);
			accepted += created.result == 0;
		}
	}
	EXPECT_GT(accepted, 90u);
}

/*
 * Split and fused convolutions, concatenations, look-up tables: whole networks, with empty inputs
 * and in registers as the existing driver leaves them. The model finds nothing wrong with them.
 */
TEST(ReferenceLoadables, ComeToTheirEnd)
{
	const auto paths = loadablePaths();
	if (paths.empty())
		GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";

	unsigned int ran = 0;
	for (const fs::path &path : paths) {
		if (path.string().find("inception_misaligned") != std::string::npos)
			continue;
		auto loadable = Loadable::readFile(path);
		ASSERT_TRUE(loadable) << path;
		auto tasks = tasksInOrder(*loadable);
		ASSERT_TRUE(tasks) << path;
		const Placement placement(*loadable);
		sim::SparseMemory dram;
		ExistingDriver driver(ran);
		ModelledCore core(dram);
		core.writeThrough(driver);
		placeContents(*loadable, placement, dram);
		for (const AnyTask &any : *tasks) {
			const auto *task = std::get_if<DlaTask>(&any);
			if (!task)
				continue;
			const Created created = createTask(*task, placement);
			ASSERT_EQ(created.result, 0) << path;
			EXPECT_TRUE(core.run(created.task.get())) << path;
			EXPECT_EQ(core.takeErrors(), std::vector<std::string>()) << path;
			ran++;
		}
	}
	EXPECT_GT(ran, 90u);
}

class UnitLoadable : public testing::TestWithParam<const char *>
{
};

TEST_P(UnitLoadable, ComputesTheGoldenResult)
{
	const std::string name = GetParam();
	const fs::path folder = referenceData() / "loadables";
	if (!fs::is_directory(folder))
		GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";

	auto loadable = Loadable::readFile(folder / (name + "_fbuf"));
	ASSERT_TRUE(loadable);
	auto tasks = tasksInOrder(*loadable);
	ASSERT_TRUE(tasks);
	ASSERT_EQ(tasks->size(), 1u);
	const auto *task = std::get_if<DlaTask>(&tasks->front());
	ASSERT_NE(task, nullptr);

	const Placement placement(*loadable);
	sim::SparseMemory dram;
	ModelledCore core(dram);
	placeContents(*loadable, placement, dram);
	const Created created = createTask(*task, placement);
	ASSERT_EQ(created.result, 0) << describeRefusal(created.error);
	const Golden golden(folder / "golden" / (name + ".dimg"));
	const auto outputs = loadable->outputs();
	ASSERT_TRUE(outputs);
	ASSERT_EQ(outputs->size(), 1u);
	const uint64_t base = placement.base(outputs->front().memory) + outputs->front().offset;
	const unsigned int atomElements = 32 / golden.bytes;

	/* Once more, programmed while the first run is under way: it does not disturb that, and
	 * computes the same. */
	const Created again = createTask(*task, placement);
	ASSERT_EQ(again.result, 0);
	ASSERT_TRUE(core.run(created.task.get(), again.task.get()));
	const std::vector<std::byte> first = outputOf(dram, base, golden);
	ASSERT_TRUE(dram.write(base, std::vector<std::byte>(first.size())));
	ASSERT_TRUE(core.run(again.task.get()));
	EXPECT_EQ(outputOf(dram, base, golden), first);

	unsigned int mismatches = 0;
	size_t next = 0;
	for (unsigned int c = 0; c < golden.channels; c++)
		for (unsigned int y = 0; y < golden.height; y++)
			for (unsigned int x = 0; x < golden.width; x++, next += golden.bytes) {
				std::byte element[2] = {};
				const uint64_t address = base +
							 c / atomElements * golden.surfaceStride +
							 y * golden.lineStride + x * 32 +
							 c % atomElements * golden.bytes;
				dram.read(address, std::span(element, golden.bytes));
				mismatches += std::memcmp(element, &golden.elements[next],
							  golden.bytes) != 0;
			}
	EXPECT_EQ(mismatches, 0u);
	EXPECT_EQ(next, golden.elements.size());
}

INSTANTIATE_TEST_SUITE_P(All, UnitLoadable,
			 testing::Values("BDMA_L0_0", "CDP_L0_0", "CONV_D_L0_0", "PDP_L0_0",
					 "RBK_L0_0", "SDP_X1_L0_0"));

} /* namespace nvdla::test */
