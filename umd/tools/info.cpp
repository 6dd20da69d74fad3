/* SPDX-License-Identifier: MIT */
/*
 * nvdla-info: what is in a loadable.
 */
#include <cstdio>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nvdla/loadable.h>
#include <nvdla/task.h>

#include "command_line.h"
#include "exit_code.h"

namespace
{

using namespace nvdla;

const char *engineName(unsigned type)
{
	static constexpr const char *names[] = { "BDMA", "CONV", "SDP", "PDP", "CDP", "RUBIK" };
	return type < std::size(names) ? names[type] : "?";
}

std::string place(const nvdla_data_cube &cube)
{
	if (cube.type == NVDLA_MEM_HW)
		return "on the fly";
	return fmt::format("{} @{}+{}", cube.type == NVDLA_MEM_CV ? "sram" : "memory",
			   static_cast<int>(cube.address), static_cast<unsigned>(cube.offset));
}

std::string cubeText(const nvdla_data_cube &cube)
{
	return fmt::format("{}x{}x{} {}", static_cast<unsigned>(cube.channel),
			   static_cast<unsigned>(cube.height), static_cast<unsigned>(cube.width),
			   place(cube));
}

std::string operationText(unsigned type, const nvdla_surface_desc &surface)
{
	switch (type) {
	case NVDLA_OP_BDMA:
		return fmt::format("{} transfers",
				   static_cast<unsigned>(surface.bdma.num_transfers));
	case NVDLA_OP_CONV:
		return cubeText(surface.conv.src_data) + " -> " + cubeText(surface.conv.dst_data);
	case NVDLA_OP_SDP:
		return cubeText(surface.sdp.src_data) + " -> " + cubeText(surface.sdp.dst_data);
	case NVDLA_OP_PDP:
		return cubeText(surface.pdp.src_data) + " -> " + cubeText(surface.pdp.dst_data);
	case NVDLA_OP_CDP:
		return cubeText(surface.cdp.src_data) + " -> " + cubeText(surface.cdp.dst_data);
	case NVDLA_OP_RUBIK:
		return cubeText(surface.rubik.src_data) + " -> " + cubeText(surface.rubik.dst_data);
	}
	return "";
}

void printTask(const DlaTask &task)
{
	fmt::print("task {}: core, {} operations, {} tables, {} addresses\n", task.id,
		   task.graph.size(), task.luts.size(), task.addresses.size());
	for (size_t i = 0; i < task.graph.size(); i++) {
		const unsigned type = task.graph[i].op_type;
		fmt::print("  {:>4} {:<5} {}\n", i, engineName(type),
			   operationText(type, task.surfaces[i]));
	}
}

void printTask(const EmuTask &task)
{
	fmt::print("task {}: CPU, {} operations\n", task.id, task.operations.size());
	for (size_t i = 0; i < task.operations.size(); i++) {
		const EmuOperation &operation = task.operations[i];
		const bool power = operation.type == EmuOpType::Power;
		fmt::print("  {:>4} {:<7} {}x{}x{} {} @{}+{} -> @{}+{}", i,
			   power ? "POWER" : "SOFTMAX", operation.src.c, operation.src.h,
			   operation.src.w, dataTypeName(operation.src.type), operation.src.address,
			   operation.src.offset, operation.dst.address, operation.dst.offset);
		if (power)
			fmt::print(" ({} + {} x) ^ {}", operation.shift, operation.scale,
				   operation.power);
		fmt::print("\n");
	}
}

Result<void> printTensors(const char *title, const Result<std::vector<TensorDesc>> &tensors)
{
	if (!tensors)
		return tl::unexpected(tensors.error());
	for (const TensorDesc &desc : *tensors)
		fmt::print("{}: {}, {} bytes, line stride {}, surface stride {}\n", title,
			   desc.describe(), desc.size, desc.lineStride, desc.surfaceStride);
	return {};
}

Result<void> print(const std::string &path)
{
	auto loadable = Loadable::readFile(path);
	if (!loadable)
		return forward(loadable);

	uint64_t memoryBytes = 0;
	uint64_t blobBytes = 0;
	for (const Memory &memory : loadable->memories)
		memoryBytes += memory.size;
	for (const Blob &blob : loadable->blobs)
		blobBytes += blob.data.size();
	fmt::print("{}: loadable {}, {} memories ({} bytes), {} blobs ({} bytes)\n", path,
		   toString(loadable->version), loadable->memories.size(), memoryBytes,
		   loadable->blobs.size(), blobBytes);

	if (auto printed = printTensors("input", loadable->inputs()); !printed)
		return printed;
	if (auto printed = printTensors("output", loadable->outputs()); !printed)
		return printed;
	auto tasks = tasksInOrder(*loadable);
	if (!tasks)
		return forward(tasks);
	for (const AnyTask &task : *tasks)
		std::visit([](const auto &any) { printTask(any); }, task);
	return {};
}

} /* namespace */

int main(int argc, char **argv)
{
	CLI::App app{ "Shows what is in an NVDLA loadable.", "nvdla-info" };
	std::string path;

	app.footer(tools::exitCodeHelp);
	app.add_option("loadable", path, "file")->required();
	if (const auto code = nvdla::tools::parseCommandLine(app, argc, argv))
		return *code;

	if (auto printed = print(path); !printed) {
		fmt::print(stderr, "nvdla-info: {}\n", printed.error().message());
		return tools::exitCode(printed.error().code);
	}
	return 0;
}
