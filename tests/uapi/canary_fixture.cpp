/* SPDX-License-Identifier: MIT */
#include "canary_fixture.h"
#include "device/refusal.h"

#include <cerrno>

namespace nvdla::test
{

void CanaryFixture::SetUp()
{
	ASSERT_TRUE(owner_.hold());
	client_ = std::make_unique<TaskClient>();
	ASSERT_TRUE(client_->valid());
	ASSERT_TRUE(owner_.hold());
}

void CanaryFixture::TearDown()
{
	EXPECT_TRUE(owner_.intact());
	EXPECT_EQ(owner_.faults(), "");
}

void CanaryFixture::expectRefused(const TaskBuilder &builder, size_t operation,
				  const std::string &name, const std::string &what)
{
	SCOPED_TRACE(name + ", " + what);
	EXPECT_EQ(run(builder), -EINVAL);
	EXPECT_EQ(client_->error().operation, operation);
	const std::string field =
		refusedField(client_->error(), builder.graph.at(operation).op_type);
	EXPECT_TRUE(field.starts_with(name)) << field;
}

} /* namespace nvdla::test */
