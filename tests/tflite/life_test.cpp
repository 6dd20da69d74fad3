/* SPDX-License-Identifier: MIT */
/*
 * What may happen to a delegate: other threads and processes, a device that goes away, an end at
 * any time.
 */
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate_device.h"
#include "interpreter.h"
#include "tflite/delegate.h"

namespace nvdla::test
{

namespace
{

const DelegateOptions device = { { "device", devicePath() } };

/* Its softmax stays with TensorFlow Lite. */
constexpr const char *network = "kws_dscnn_int8";

size_t count(const std::string &text, const std::string &part)
{
	size_t found = 0;

	for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
		found++;
	return found;
}

class Life : public testing::Test
{
protected:
	void SetUp() override
	{
		if (modelFolders("tflite").empty())
			GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";
		folder = readModelFolder(network);
		inputs = folder.cases.front().inputs;
		alone = Interpreter(folder.file, nullptr).run(inputs);
	}

	/* What the delegate makes of it, which need not be what TensorFlow Lite does. */
	std::vector<Array> onDevice()
	{
		const DelegatePointer delegate = loadDelegate(device);
		return Interpreter(folder.file, delegate.get()).run(inputs);
	}

	ModelFolder folder;
	std::vector<Array> inputs;
	std::vector<Array> alone;
};

/* A delegate on a device that can be lost, whose lines are kept. */
class LostDevice : public Life
{
protected:
	DelegatePointer make()
	{
		auto device = Device::open(std::shared_ptr<DeviceBackend>(gate));
		EXPECT_TRUE(device) << device.error().message();
		auto session = std::make_shared<plugin::Session>(
			std::move(*device), plugin::Options{},
			[this](const std::string &line) { said += line + "\n"; });
		return { delegate::Delegate::create(std::move(session)),
			 delegate::Delegate::destroy };
	}

	std::shared_ptr<GateDevice> gate = GateDevice::open();
	std::string said;
};

constexpr const char *lossWarning = "the device is used no more, the CPU goes on";

TEST_F(LostDevice, BetweenRuns)
{
	const DelegatePointer delegate = make();
	Interpreter with(folder.file, delegate.get());

	EXPECT_EQ(with.run(inputs), onDevice());
	EXPECT_EQ(count(said, lossWarning), 0u);
	gate->lose();
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(with.run(inputs), alone);
	EXPECT_EQ(count(said, lossWarning), 1u) << said;
}

TEST_F(LostDevice, InMidRun)
{
	const DelegatePointer delegate = make();
	Interpreter with(folder.file, delegate.get());

	gate->close();
	with.set(inputs);
	std::thread run([&with] { EXPECT_TRUE(with.invoke()); });
	gate->waitHeld(1);
	gate->lose();
	run.join();
	EXPECT_EQ(with.outputs(), alone);
	EXPECT_EQ(count(said, lossWarning), 1u) << said;
}

/* What is prepared afterwards takes nothing. */
TEST_F(LostDevice, BeforeAnotherInterpreter)
{
	const DelegatePointer delegate = make();
	Interpreter first(folder.file, delegate.get());

	gate->lose();
	EXPECT_EQ(first.run(inputs), alone);
	said.clear();
	EXPECT_EQ(Interpreter(folder.file, delegate.get()).run(inputs), alone);
	EXPECT_EQ(said, "");
}

TEST_F(Life, MissingDevice)
{
	testing::internal::CaptureStderr();
	const DelegatePointer delegate = loadDelegate({ { "device", "/dev/accel/accel99" } });
	ASSERT_TRUE(delegate);
	Interpreter with(folder.file, delegate.get());
	EXPECT_EQ(with.run(inputs), alone);
	const std::string said = testing::internal::GetCapturedStderr();
	EXPECT_EQ(count(said, "nvdla: the CPU computes everything: "), 1u) << said;
	EXPECT_EQ(count(said, "/dev/accel/accel99"), 1u) << said;
}

TEST_F(Life, WrongOptions)
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

TEST_F(Life, PrecisionIntegerLeavesRealNumbers)
{
	DelegateOptions options = device;
	options["precision"] = "integer";
	const DelegatePointer delegate = loadDelegate(options);
	const ModelFolder real = readModelFolder("hello_world_float");
	Interpreter without(real.file, nullptr), with(real.file, delegate.get());

	for (const ModelCase &one : real.cases)
		EXPECT_EQ(with.run(one.inputs), without.run(one.inputs));
}

/* In two threads at once. */
void twice(const std::function<void()> &work)
{
	std::thread other(work);

	work();
	other.join();
}

TEST_F(Life, TwoThreads)
{
	const std::vector<Array> wanted = onDevice();

	twice([&] {
		const DelegatePointer delegate = loadDelegate(device);
		Interpreter with(folder.file, delegate.get());
		for (int i = 0; i < 20; i++)
			EXPECT_EQ(with.run(inputs), wanted);
	});
}

TEST_F(Life, TwoInterpretersOfOneDelegate)
{
	const std::vector<Array> wanted = onDevice();
	const DelegatePointer delegate = loadDelegate(device);

	twice([&] {
		Interpreter with(folder.file, delegate.get());
		for (int i = 0; i < 10; i++)
			EXPECT_EQ(with.run(inputs), wanted);
	});
}

/* This program as it was started, with other arguments. */
pid_t startAgain(const std::string &filter)
{
	std::ifstream file("/proc/self/cmdline");
	const std::string words{ std::istreambuf_iterator<char>(file), {} };
	std::vector<std::string> command;

	/* It may be an argument of the loader. */
	for (size_t at = 0; at < words.size(); at = words.find('\0', at) + 1) {
		command.push_back(words.c_str() + at);
		if (command.back().ends_with("tflite-test"))
			break;
	}
	command.push_back("--gtest_filter=" + filter);
	std::vector<char *> arguments;
	for (std::string &word : command)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	pid_t child = 0;
	EXPECT_EQ(
		posix_spawn(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ),
		0);
	return child;
}

TEST_F(Life, TwoProcesses)
{
	std::vector<pid_t> children;

	for (int i = 0; i < 2; i++)
		children.push_back(startAgain("Models/*person_detect_int8"));
	for (const pid_t child : children) {
		int status = 0;
		EXPECT_EQ(waitpid(child, &status, 0), child);
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
	}
}

TEST_F(LostDevice, DestroyedInMidRun)
{
	DelegatePointer delegate = make();
	Interpreter with(folder.file, delegate.get());
	const std::vector<Array> wanted = onDevice();

	gate->close();
	with.set(inputs);
	std::thread run([&with] { EXPECT_TRUE(with.invoke()); });
	gate->waitHeld(1);
	delegate.reset();
	gate->release();
	run.join();
	EXPECT_EQ(with.outputs(), wanted);
	EXPECT_EQ(with.run(inputs), wanted);
}

TEST_F(Life, OtherShapes)
{
	const ModelFolder small = readModelFolder("hello_world_int8");
	const DelegatePointer delegate = loadDelegate(device);
	Interpreter with(small.file, delegate.get()), without(small.file, nullptr);
	const Array three{ "|i1", { -100, 0, 100 } };

	with.resize({ 3, 1 });
	without.resize({ 3, 1 });
	EXPECT_EQ(with.run({ three }), without.run({ three }));
	with.resize({ 1, 1 });
	EXPECT_EQ(with.run(small.cases[0].inputs).front().numbers.size(), 1u);
}

class CacheFolder : public Life
{
protected:
	void SetUp() override
	{
		Life::SetUp();
		path = std::filesystem::temp_directory_path() /
		       ("nvdla-tflite-test-" + std::to_string(getpid()));
		options = device;
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

long residentBytes()
{
	std::ifstream statm("/proc/self/statm");
	long size = 0, resident = 0;

	statm >> size >> resident;
	return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(Life, ManyInvocationsTakeNoMemory)
{
	/* Allocators keep some pages for later. */
	constexpr long tolerated = 2 << 20;
	const ModelFolder small = readModelFolder("hello_world_int8");
	const DelegatePointer delegate = loadDelegate(device);
	Interpreter with(small.file, delegate.get());
	const std::vector<Array> wanted = with.run(small.cases[0].inputs);

	for (int i = 0; i < 1000; i++)
		ASSERT_TRUE(with.invoke());
	const long before = residentBytes();
	for (int i = 0; i < 10000; i++)
		ASSERT_TRUE(with.invoke());
	EXPECT_EQ(with.outputs(), wanted);
	EXPECT_LE(residentBytes() - before, tolerated);
}

} /* namespace */

} /* namespace nvdla::test */
