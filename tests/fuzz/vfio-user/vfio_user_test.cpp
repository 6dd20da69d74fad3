/* SPDX-License-Identifier: MIT */
/*
 * The same as the fuzzer does, for a fixed set of inputs: proper conversations,
 * and what becomes of them when bytes are changed, cut out or repeated. Files
 * given as arguments (a fuzzer's findings) are played instead.
 */
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "vfio-user/message.h"
#include "vfio_user.h"

using namespace nvdla::sim::vfiouser;

namespace
{

using Input = std::vector<uint8_t>;

struct Step {
	wire::Command command;
	uint8_t descriptors; /**< as in a record */
	Bytes payload;
};

template<typename T>
Bytes bytesOf(const T &value, size_t more = 0)
{
	Bytes bytes;
	append(bytes, value);
	bytes.resize(bytes.size() + more);
	return bytes;
}

/* One of everything that a client does. */
std::vector<Step> conversation()
{
	return {
		{ wire::Command::DmaMap, 1, bytesOf(wire::DmaMap{ 32, 3, 0, 0, 0x10000 }) },
		{ wire::Command::DmaMap, 5,
		  bytesOf(wire::DmaMap{ 32, 3, 4096, 0x10000, 0x10000 }) },
		{ wire::Command::DmaMap, 0, bytesOf(wire::DmaMap{ 32, 1, 0, 0x80000, 0x10000 }) },
		{ wire::Command::DeviceGetInfo, 0, bytesOf(wire::DeviceInfo{ 16, 0, 0, 0 }) },
		{ wire::Command::DeviceGetRegionInfo, 0,
		  bytesOf(wire::RegionInfo{ 32, 0, 0, 0, 0, 0 }) },
		{ wire::Command::DeviceGetRegionIoFds, 0, bytesOf(wire::IndexInfo{ 16, 0, 0, 0 }) },
		{ wire::Command::DeviceGetIrqInfo, 0, bytesOf(wire::IndexInfo{ 16, 0, 2, 0 }) },
		{ wire::Command::DeviceSetIrqs, 10, bytesOf(wire::SetIrqs{ 20, 0x24, 2, 0, 2 }) },
		{ wire::Command::DeviceSetIrqs, 0, bytesOf(wire::SetIrqs{ 20, 0x0a, 2, 0, 2 }, 2) },
		{ wire::Command::DeviceSetIrqs, 0, bytesOf(wire::SetIrqs{ 20, 0x21, 2, 0, 0 }) },
		{ wire::Command::RegionRead, 0, bytesOf(wire::RegionAccess{ 0, 7, 64 }) },
		{ wire::Command::RegionWrite, 0, bytesOf(wire::RegionAccess{ 16, 0, 8 }, 8) },
		{ wire::Command::RegionWriteMulti, 0,
		  bytesOf(wire::RegionWriteMulti{ 2 }, 2 * sizeof(wire::RegionWriteEntry)) },
		{ wire::Command::DmaUnmap, 0, bytesOf(wire::DmaUnmap{ 24, 0, 0x8000, 0x10000 }) },
		{ wire::Command::DeviceReset, 0, {} },
		{ wire::Command::DmaUnmap, 0, bytesOf(wire::DmaUnmap{ 24, 2, 0, 0 }) },
	};
}

void put(Input &input, const Bytes &bytes)
{
	for (const std::byte byte : bytes)
		input.push_back(std::to_integer<uint8_t>(byte));
}

Input asRecords(const std::vector<Step> &steps)
{
	Input input = { 1 };
	for (const Step &step : steps) {
		input.push_back(static_cast<uint8_t>(step.command));
		input.push_back(step.descriptors);
		input.push_back(static_cast<uint8_t>(step.payload.size()));
		input.push_back(static_cast<uint8_t>(step.payload.size() >> 8));
		put(input, step.payload);
	}
	return input;
}

Input asStream(const std::vector<Step> &steps)
{
	Input input = { 0 };
	put(input, encode(0, static_cast<uint16_t>(wire::Command::Version), 0, 0,
			  bytesOf(wire::Version{ 0, 0 })));
	uint16_t id = 1;
	for (const Step &step : steps)
		put(input, encode(id++, static_cast<uint16_t>(step.command), 0, 0, step.payload));
	return input;
}

void mutate(Input &input, std::minstd_rand &random)
{
	constexpr std::array<uint8_t, 6> values = { 0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff };
	const auto position = [&] { return static_cast<ptrdiff_t>(random() % input.size()); };
	for (unsigned int i = random() % 6; i < 6 && input.size() > 1; i++) {
		switch (random() % 5) {
		case 0:
			input[static_cast<size_t>(position())] = values[random() % values.size()];
			break;
		case 1:
			input[static_cast<size_t>(position())] ^=
				static_cast<uint8_t>(1 << random() % 8);
			break;
		case 2:
			input.insert(input.begin() + position(), static_cast<uint8_t>(random()));
			break;
		case 3:
			input.erase(input.begin() + position());
			break;
		case 4: {
			const Input copy(input.begin() + position(), input.end());
			input.insert(input.end(), copy.begin(), copy.end());
			break;
		}
		}
	}
}

TEST(VfioUserFuzz, ProperConversations)
{
	nvdla::fuzz::playVfioUser({});
	nvdla::fuzz::playVfioUser(asRecords(conversation()));
	nvdla::fuzz::playVfioUser(asStream(conversation()));
}

TEST(VfioUserFuzz, CutAnywhere)
{
	for (const Input &whole : { asRecords(conversation()), asStream(conversation()) }) {
		for (size_t size = 0; size <= whole.size(); size++)
			nvdla::fuzz::playVfioUser(std::span(whole).first(size));
	}
}

TEST(VfioUserFuzz, Mutations)
{
	std::minstd_rand random(1);
	for (const Input &whole : { asRecords(conversation()), asStream(conversation()) }) {
		for (int i = 0; i < 2000; i++) {
			Input input = whole;
			mutate(input, random);
			nvdla::fuzz::playVfioUser(input);
		}
	}
}

/* A fuzzer's findings, one after the other. */
int playFiles(const std::vector<std::string> &names)
{
	for (const std::string &name : names) {
		std::ifstream file(name, std::ios::binary);
		if (!file) {
			std::cerr << name << ": cannot be read\n";
			return 1;
		}
		const Input input{ std::istreambuf_iterator<char>(file), {} };
		nvdla::fuzz::playVfioUser(input);
		std::cout << name << ": " << input.size() << " bytes played\n";
	}
	return 0;
}

} /* namespace */

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	return argc > 1 ? playFiles({ argv + 1, argv + argc }) : RUN_ALL_TESTS();
}
