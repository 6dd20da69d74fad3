/* SPDX-License-Identifier: MIT */
/*
 * A small network with the delegate, on devices that stay and on one that may go.
 */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gate_device.h"
#include "interpreter.h"
#include "frameworks/tflite/delegate.h"

namespace nvdla::test
{

/** \return the options of a delegate on the device under test */
inline DelegateOptions onTestDevice()
{
	return { { "device", devicePath() } };
}

/** \return how often \a part is in \a text */
inline size_t count(const std::string &text, const std::string &part)
{
	size_t found = 0;

	for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
		found++;
	return found;
}

/** \brief What is said once when a device is lost */
constexpr const char *lossWarning = "the device is used no more, the CPU goes on";

/** \brief A network whose softmax stays with TensorFlow Lite, and what that alone makes of it */
class Life : public testing::Test
{
protected:
	void SetUp() override
	{
		if (modelFolders("tflite").empty())
			GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";
		folder = readModelFolder("kws_dscnn_int8");
		inputs = folder.cases.front().inputs;
		alone = Interpreter(folder.file, nullptr).run(inputs);
	}

	/** \return what a new delegate makes of it, which need not be what TensorFlow Lite does */
	std::vector<Array> onDevice(const DelegateOptions &options = onTestDevice())
	{
		const DelegatePointer delegate = loadDelegate(options);
		return Interpreter(folder.file, delegate.get()).run(inputs);
	}

	ModelFolder folder;
	std::vector<Array> inputs;
	std::vector<Array> alone;
};

/** \brief A delegate on a device that the test has in its hands, and what the delegate says */
class GatedLife : public Life
{
protected:
	DelegatePointer make(const plugin::Options &options = {})
	{
		auto device = Device::open(std::shared_ptr<DeviceBackend>(gate));
		EXPECT_TRUE(device) << device.error().message();
		auto session = std::make_shared<plugin::Session>(
			std::move(*device), options,
			[this](const std::string &line) { said += line + "\n"; });
		return { delegate::Delegate::create(std::move(session)),
			 delegate::Delegate::destroy };
	}

	std::shared_ptr<GateDevice> gate = GateDevice::open();
	std::string said;
};

} /* namespace nvdla::test */
