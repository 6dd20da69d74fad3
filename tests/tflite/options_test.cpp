/* SPDX-License-Identifier: MIT */
/*
 * What an application may ask of the delegate.
 */
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "life.h"

namespace nvdla::test
{

namespace
{

class Options : public GatedLife
{
protected:
	/* Runs a network with a delegate, both gone afterwards; \return what the delegate said. */
	static std::string runWith(const DelegateOptions &options, const ModelFolder &folder,
				   const std::vector<Array> &wanted, unsigned runs = 1)
	{
		testing::internal::CaptureStderr();
		const DelegatePointer delegate = loadDelegate(options);
		{
			Interpreter with(folder.file, delegate.get());
			for (unsigned i = 0; i < runs; i++)
				EXPECT_EQ(with.run(folder.cases.front().inputs), wanted);
		}
		return testing::internal::GetCapturedStderr();
	}
};

TEST_F(Options, EachNodeThatIsLeftHasItsReason)
{
	const std::string said = runWith(onTestDevice(), folder, onDevice());

	EXPECT_EQ(count(said, "nvdla: takes 12 of 13 nodes in 1 partition, leaves 1\n"), 1u)
		<< said;
	EXPECT_EQ(count(said, "nvdla: leaves "), 1u) << said;
	EXPECT_EQ(count(said, "nvdla: leaves node 12 'Identity' to TensorFlow Lite: "), 1u) << said;
}

TEST_F(Options, WithoutADeviceItIsTheFirstOne)
{
	const bool isThere = !Device::enumerate().empty();
	const std::string said = runWith({}, folder, isThere ? onDevice() : alone);

	EXPECT_EQ(count(said, "the CPU computes everything: open device: the kernel drives none"),
		  isThere ? 0u : 1u)
		<< said;
}

TEST_F(Options, ProfileSaysHowLongEachPartitionTook)
{
	DelegateOptions options = onTestDevice();
	options["profile"] = "true";
	const std::string said = runWith(options, folder, onDevice(), 3);

	EXPECT_EQ(count(said, "nvdla: profile: 12 nodes from node 0 "), 1u) << said;
	EXPECT_EQ(count(said, ": 3 runs, "), 1u) << said;
	EXPECT_EQ(count(said, " ms of them on the device; 0 runs on the CPU\n"), 1u) << said;
}

TEST_F(Options, PriorityIsThatOfTheDevicesJobs)
{
	const std::vector<Array> wanted = onDevice();

	for (const Priority priority : { Priority::Low, Priority::High }) {
		gate = GateDevice::open();
		const DelegatePointer delegate = make({ .priority = priority });
		EXPECT_EQ(Interpreter(folder.file, delegate.get()).run(inputs), wanted);
		EXPECT_EQ(gate->contextPriorities(),
			  std::vector{ static_cast<uint32_t>(priority) });
		EXPECT_EQ(count(said, lossWarning), 0u) << said;
	}
}

TEST_F(Options, WrongOnes)
{
	const std::vector<std::pair<DelegateOptions, std::string>> wrong = {
		{ { { "devcie", "embedded" } }, "devcie" },
		{ { { "precision", "some" } }, "\"some\" is none of \"any\", \"integer\"" },
		{ { { "device", "embedded:fp16=quick" } }, "fp16=quick" },
	};

	for (const auto &[options, word] : wrong) {
		testing::internal::CaptureStderr();
		const DelegatePointer delegate = loadDelegate(options);
		EXPECT_FALSE(Interpreter::canPrepare(folder.file, delegate.get()));
		const std::string said = testing::internal::GetCapturedStderr();
		EXPECT_NE(said.find(word), std::string::npos) << said;
	}
}

TEST_F(Options, PrecisionIntegerLeavesRealNumbers)
{
	DelegateOptions options = onTestDevice();
	options["precision"] = "integer";
	const ModelFolder real = readModelFolder("hello_world_float");
	const std::string said = runWith(
		options, real, Interpreter(real.file, nullptr).run(real.cases.front().inputs));

	EXPECT_EQ(count(said, "takes 0 of 3 nodes"), 1u) << said;
	EXPECT_EQ(count(said, "precision=integer leaves them"), 3u) << said;
	EXPECT_EQ(count(runWith(options, folder, onDevice()), "takes 12 of 13 nodes"), 1u);
}

class CacheFolder : public Life
{
protected:
	void SetUp() override
	{
		Life::SetUp();
		path = std::filesystem::temp_directory_path() /
		       ("nvdla-tflite-test-" + std::to_string(getpid()));
		options = onTestDevice();
		options["cache_dir"] = path;
	}
	void TearDown() override { std::filesystem::remove_all(path); }

	std::vector<std::filesystem::path> entries() const
	{
		const std::filesystem::directory_iterator files(path), end;
		std::vector<std::filesystem::path> found;
		for (auto file = files; file != end; ++file)
			found.push_back(file->path());
		return found;
	}

	std::vector<Array> run()
	{
		const DelegatePointer delegate = loadDelegate(options);
		return Interpreter(folder.file, delegate.get()).run(inputs);
	}

	std::filesystem::path path;
	DelegateOptions options;
};

TEST_F(CacheFolder, HasWhatWasCompiled)
{
	const std::vector<Array> wanted = onDevice();

	EXPECT_EQ(run(), wanted);
	ASSERT_EQ(entries().size(), 1u);
	/* What is read is not written again. */
	const auto written = std::filesystem::last_write_time(entries().front());
	EXPECT_EQ(run(), wanted);
	EXPECT_EQ(entries().size(), 1u);
	EXPECT_EQ(std::filesystem::last_write_time(entries().front()), written);
}

TEST_F(CacheFolder, DamagedEntriesCountAsNone)
{
	const std::vector<Array> wanted = onDevice();

	EXPECT_EQ(run(), wanted);
	const std::filesystem::path entry = entries().at(0);
	const auto size = std::filesystem::file_size(entry);
	{
		std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
		file.seekp(static_cast<std::streamoff>(size / 2));
		file.put('\x5a').put('\x5b').put('\x5c');
	}
	EXPECT_EQ(run(), wanted);
	std::filesystem::resize_file(entry, size / 2);
	EXPECT_EQ(run(), wanted);
	EXPECT_EQ(std::filesystem::file_size(entry), size);
}

/* A folder at the place of the entry stands for whatever prevents writing, such as a full disk. */
TEST_F(CacheFolder, WhatCannotBeKeptIsSaid)
{
	const std::vector<Array> wanted = onDevice();

	EXPECT_EQ(run(), wanted);
	const std::filesystem::path entry = entries().at(0);
	std::filesystem::remove(entry);
	std::filesystem::create_directory(entry);
	testing::internal::CaptureStderr();
	EXPECT_EQ(run(), wanted);
	const std::string said = testing::internal::GetCapturedStderr();
	EXPECT_EQ(count(said, "nvdla: cache_dir: compiled models are not kept: "), 1u) << said;
}

} /* namespace */

} /* namespace nvdla::test */
