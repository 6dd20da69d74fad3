/* SPDX-License-Identifier: MIT */
/* Two devices that share buffers, and of which one goes. */
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "imported_buffer.h"
#include "pci_function.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t bytes = 256 * 1024;

/** \return all nodes there are, in their order */
std::vector<std::string> nodes()
{
	std::vector<std::string> found;
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator("/dev/accel", error))
		found.push_back(entry.path());
	std::ranges::sort(found);
	return found;
}

CopyTask wholeCopy(uint32_t source, uint32_t destination)
{
	CopyTask task;
	task.addAddress(source);
	task.addAddress(destination);
	task.addCopy(0, 1, 1024, bytes / 1024);
	return task;
}

void fill(const Buffer &buffer, uint8_t seed)
{
	for (size_t i = 0; i < bytes; i++)
		buffer.bytes()[i] = static_cast<uint8_t>(i % 251 + seed);
}

bool equal(std::span<const uint8_t> a, std::span<const uint8_t> b)
{
	return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/** \brief A buffer of one device that another has imported */
class ShareTest : public testing::Test
{
protected:
	void SetUp() override
	{
		const std::vector<std::string> found = nodes();
		ASSERT_EQ(found.size(), 2U) << "a test for a guest with two devices";
		exporterNode_ = found[0];
		importerNode_ = found[1];
		exporter_ = std::make_unique<Device>(exporterNode_);
		importer_ = std::make_unique<Device>(importerNode_);
		ASSERT_TRUE(exporter_->valid() && importer_->valid());

		source_ = std::make_unique<Buffer>(*exporter_, bytes);
		shared_ = std::make_unique<Buffer>(*exporter_, bytes);
		result_ = std::make_unique<Buffer>(*importer_, bytes);
		ASSERT_TRUE(source_->valid() && shared_->valid() && result_->valid());
		dmaBuf_ = std::make_unique<DmaBuf>(
			DmaBuf::exportOf(exporter_->fd(), shared_->handle()));
		imported_ = std::make_unique<ImportedBuffer>(*importer_, *dmaBuf_);
		ASSERT_EQ(imported_->result(), 0);
	}

	int writeShared()
	{
		return Submit(wholeCopy(source_->handle(), shared_->handle())).run(*exporter_);
	}

	int readShared()
	{
		return Submit(wholeCopy(imported_->handle(), result_->handle())).run(*importer_);
	}

	std::string exporterNode_, importerNode_;
	std::unique_ptr<Device> exporter_, importer_;
	std::unique_ptr<Buffer> source_, shared_, result_;
	std::unique_ptr<DmaBuf> dmaBuf_;
	std::unique_ptr<ImportedBuffer> imported_;
};

} /* namespace */

TEST_F(ShareTest, OneReadsWhatTheOtherWrites)
{
	for (uint8_t round = 0; round < 20; round++) {
		fill(*source_, round);
		ASSERT_EQ(writeShared(), 0);
		ASSERT_EQ(readShared(), 0);
		ASSERT_EQ(result_->prepare(DRM_NVDLA_BO_READ), 0);
		ASSERT_TRUE(equal(result_->bytes(), source_->bytes())) << "round " << +round;
	}
}

TEST_F(ShareTest, OneWritesWhatTheOtherReads)
{
	/* The next write waits for the read before it, on the other device. */
	Buffer other(*exporter_, bytes);
	ASSERT_TRUE(other.valid());
	fill(*source_, 1);
	fill(other, 2);
	for (unsigned int round = 0; round < 10; round++) {
		ASSERT_EQ(writeShared(), 0);
		ASSERT_EQ(readShared(), 0);
		ASSERT_EQ(Submit(wholeCopy(other.handle(), shared_->handle())).run(*exporter_), 0);
		ASSERT_EQ(result_->prepare(DRM_NVDLA_BO_READ), 0);
		ASSERT_TRUE(equal(result_->bytes(), source_->bytes()));
		ASSERT_EQ(shared_->prepare(DRM_NVDLA_BO_READ), 0);
		ASSERT_TRUE(equal(shared_->bytes(), other.bytes()));
	}
}

TEST_F(ShareTest, TheExporterGoes)
{
	fill(*source_, 7);
	ASSERT_EQ(writeShared(), 0);
	ASSERT_EQ(shared_->prepare(DRM_NVDLA_BO_READ), 0);
	for (unsigned int i = 0; i < 20; i++)
		ASSERT_EQ(readShared(), 0);

	Unbound unbound{ PciFunction(exporterNode_) };
	ASSERT_TRUE(unbound.done());
	/* Its memory is still what the other device reads and writes. */
	ASSERT_EQ(result_->prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(result_->bytes(), source_->bytes()));
	fill(*result_, 8);
	ASSERT_EQ(result_->finish(), 0);
	ASSERT_EQ(Submit(wholeCopy(result_->handle(), imported_->handle())).run(*importer_), 0);
	ASSERT_EQ(imported_->prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(shared_->bytes(), result_->bytes()));
	EXPECT_EQ(shared_->prepare(DRM_NVDLA_BO_READ), -ENODEV);

	/* Nor is it freed with the exporter's file. */
	shared_.reset();
	source_.reset();
	exporter_.reset();
	dmaBuf_.reset();
	Buffer again(*importer_, bytes);
	ASSERT_TRUE(again.valid());
	ASSERT_EQ(Submit(wholeCopy(imported_->handle(), again.handle())).run(*importer_), 0);
	ASSERT_EQ(again.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(again.bytes(), result_->bytes()));
	ASSERT_TRUE(unbound.bind());
}

TEST_F(ShareTest, TheImporterGoes)
{
	for (uint8_t round = 0; round < 20; round++) {
		fill(*source_, round);
		ASSERT_EQ(writeShared(), 0);
		ASSERT_EQ(readShared(), 0);
	}
	Unbound unbound{ PciFunction(importerNode_) };
	ASSERT_TRUE(unbound.done());
	EXPECT_EQ(readShared(), -ENODEV);
	EXPECT_EQ(imported_->prepare(DRM_NVDLA_BO_READ), -ENODEV);
	fill(*source_, 99);
	ASSERT_EQ(writeShared(), 0);
	ASSERT_EQ(shared_->prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(shared_->bytes(), source_->bytes()));
	ASSERT_TRUE(unbound.bind());
}

} /* namespace nvdla::test */
