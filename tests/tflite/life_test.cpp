/* SPDX-License-Identifier: MIT */
/*
 * What may happen to a delegate: other threads and processes, other shapes, an end at any time, a
 * long life.
 */
#include <fstream>
#include <functional>
#include <thread>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"
#include "read_file.h"

namespace nvdla::test
{

namespace
{

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
		const DelegatePointer delegate = loadDelegate(onTestDevice());
		Interpreter with(folder.file, delegate.get());
		for (int i = 0; i < 20; i++)
			EXPECT_EQ(with.run(inputs), wanted);
	});
}

TEST_F(Life, TwoInterpretersOfOneDelegate)
{
	const std::vector<Array> wanted = onDevice();
	const DelegatePointer delegate = loadDelegate(onTestDevice());

	twice([&] {
		Interpreter with(folder.file, delegate.get());
		for (int i = 0; i < 10; i++)
			EXPECT_EQ(with.run(inputs), wanted);
	});
}

/* This program as it was started, with other arguments. */
pid_t startAgain(const std::string &filter)
{
	const std::string words = readText("/proc/self/cmdline");
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

TEST_F(GatedLife, DestroyedInMidRun)
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

/* One has the device while the other is on its way to it, or takes its results. */
TEST_F(GatedLife, TwoInvocationsAreOnTheDeviceAtOnce)
{
	const std::vector<Array> wanted = onDevice();
	const DelegatePointer delegate = make();
	Interpreter first(folder.file, delegate.get()), second(folder.file, delegate.get());

	gate->close();
	std::thread one([&] { EXPECT_EQ(first.run(inputs), wanted); });
	std::thread other([&] { EXPECT_EQ(second.run(inputs), wanted); });
	gate->waitHeld(2);
	gate->release();
	one.join();
	other.join();
}

/* Vectors of integers lie on the device as they do in TensorFlow Lite; what has rows does not. */
TEST_F(GatedLife, TensorsThatLieAlikeAreTheDevicesMemory)
{
	const ModelFolder vectors = readModelFolder("ad_autoencoder_int8");
	const DelegatePointer delegate = make();
	Interpreter with(vectors.file, delegate.get()), rows(folder.file, delegate.get());
	Interpreter without(vectors.file, nullptr);

	EXPECT_TRUE(with.inputIsLent() && with.outputIsLent());
	EXPECT_FALSE(rows.inputIsLent() || rows.outputIsLent() || without.inputIsLent());
	with.run(vectors.cases.front().inputs);
	EXPECT_EQ(said.find(lossWarning), std::string::npos);
	gate->lose();
	for (const ModelCase &one : vectors.cases)
		EXPECT_EQ(with.run(one.inputs), without.run(one.inputs));
}

/* Memory that was lent for the first shape is TensorFlow Lite's again for another. */
TEST_F(Life, OtherShapes)
{
	const ModelFolder small = readModelFolder("hello_world_int8");
	const DelegatePointer delegate = loadDelegate(onTestDevice());
	Interpreter with(small.file, delegate.get()), without(small.file, nullptr);
	const Array three{ "|i1", { -100, 0, 100 } };

	EXPECT_TRUE(with.inputIsLent() && with.outputIsLent());
	with.resize({ 3, 1 });
	without.resize({ 3, 1 });
	EXPECT_EQ(with.run({ three }), without.run({ three }));
	with.resize({ 1, 1 });
	EXPECT_EQ(with.run(small.cases[0].inputs).front().numbers.size(), 1u);
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
	const DelegatePointer delegate = loadDelegate(onTestDevice());
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
