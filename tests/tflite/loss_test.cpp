/* SPDX-License-Identifier: MIT */
/*
 * Devices that go away, or were never there: the CPU computes, and one line says so.
 */
#include <thread>

#include <nvdla/hw/pci.h>

#include "life.h"
#include "pci_function.h"

namespace nvdla::test
{

namespace
{

class LostDevice : public GatedLife
{
};

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

class UnboundDevice : public LostDevice
{
protected:
	void SetUp() override
	{
		LostDevice::SetUp();
		if (IsSkipped())
			return;
		/* Sleep resets the function, which would end a fault before anybody met it. */
		ASSERT_TRUE(function.valid() && function.stayAwake(true))
			<< devicePath() << " is no device of the driver";
	}

	void TearDown() override
	{
		function.stayAwake(false);
		gate.reset();
		EXPECT_TRUE(restoreNode(devicePath()));
	}

	const PciFunction function{ devicePath() };
};

/* As when somebody pulls the card: a job that would never end is on it. */
TEST_F(UnboundDevice, InMidRun)
{
	const std::vector<Array> wanted = onDevice();
	DelegatePointer delegate = make();
	{
		Interpreter with(folder.file, delegate.get());
		ASSERT_TRUE(function.order(NVDLA_PCI_FAULT_HANG, 1))
			<< "nvdla-sim was started without --faults";
		with.set(inputs);
		std::thread run([&with] { EXPECT_TRUE(with.invoke()); });
		gate->waitPassed(1);
		const Unbound unbound(function);
		EXPECT_TRUE(unbound.done());
		/* The job may not have come so far. */
		EXPECT_TRUE(function.order(NVDLA_PCI_FAULT_NONE));
		run.join();
		EXPECT_EQ(with.outputs(), alone);
		EXPECT_EQ(with.run(inputs), alone);
		EXPECT_EQ(count(said, lossWarning), 1u) << said;
	}
	delegate.reset();
	testing::internal::CaptureStderr();
	EXPECT_EQ(onDevice({ { "device", presentNode() } }), wanted);
	EXPECT_EQ(count(testing::internal::GetCapturedStderr(), lossWarning), 0u);
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

} /* namespace */

} /* namespace nvdla::test */
