/* SPDX-License-Identifier: MIT */
/* DRM_IOCTL_NVDLA_DEV_QUERY and the node itself. */
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <xf86drm.h>

#include "device.h"

namespace nvdla::test
{

TEST(Query, DriverIsNvdla)
{
	Device device;
	ASSERT_TRUE(device.valid()) << "cannot open " << Device::path();

	std::unique_ptr<drmVersion, decltype(&drmFreeVersion)> version(drmGetVersion(device.fd()),
								       drmFreeVersion);
	ASSERT_TRUE(version);
	EXPECT_EQ(std::string(version->name), "nvdla");
}

TEST(Query, DescribesNvFull)
{
	Device device;
	ASSERT_TRUE(device.valid());

	drm_nvdla_device_info info = {};
	drm_nvdla_dev_query query = { .type = DRM_NVDLA_QUERY_DEVICE,
				      .size = sizeof(info),
				      .pointer = reinterpret_cast<uintptr_t>(&info) };
	ASSERT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), 0);
	EXPECT_EQ(query.size, sizeof(info));
	EXPECT_EQ(info.variant, static_cast<uint32_t>(DRM_NVDLA_VARIANT_NV_FULL));
	EXPECT_EQ(info.hw_version, 0x303031U);
	EXPECT_EQ(info.engines, 0x3fU);
	EXPECT_EQ(info.precisions, 0x7U);
	EXPECT_EQ(info.atom_bytes, 32U);
	EXPECT_EQ(info.capabilities, 0x7U);
	EXPECT_EQ(info.max_batch, 32U);
	EXPECT_EQ(info.weight_alignment, 256U);
	EXPECT_EQ(info.weight_size_alignment, 128U);
	EXPECT_EQ(info.mac_channels, 64U);
	EXPECT_EQ(info.int8_kernels, 32U);
	EXPECT_EQ(info.cbuf_banks, 16U);
	EXPECT_EQ(info.cbuf_bank_entries, 256U);
	EXPECT_EQ(info.cbuf_entry_bytes, 128U);
	EXPECT_EQ(info.reserved, 0U);
	EXPECT_GE(info.max_operations, 512U);
	EXPECT_GE(info.max_addresses, 1024U);
	EXPECT_GT(info.default_timeout_ms, 0U);
	EXPECT_LE(info.default_timeout_ms, info.max_timeout_ms);
}

TEST(Query, KnowsTheClock)
{
	Device device;
	ASSERT_TRUE(device.valid());

	drm_nvdla_device_info info = {};
	drm_nvdla_dev_query query = { .type = DRM_NVDLA_QUERY_DEVICE,
				      .size = sizeof(info),
				      .pointer = reinterpret_cast<uintptr_t>(&info) };
	ASSERT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), 0);
	/* A PCI function has none that the driver knows of. */
	const char *expected = std::getenv("NVDLA_TEST_CORE_CLOCK_HZ");
	EXPECT_EQ(std::to_string(info.core_clock_hz), expected ? expected : "0");
}

TEST(Query, ReturnsTheSizeAlone)
{
	Device device;
	ASSERT_TRUE(device.valid());

	drm_nvdla_dev_query query = { .type = DRM_NVDLA_QUERY_DEVICE, .size = 0, .pointer = 0 };
	ASSERT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), 0);
	EXPECT_EQ(query.size, sizeof(drm_nvdla_device_info));
}

TEST(Query, WritesNoMoreThanAskedFor)
{
	Device device;
	ASSERT_TRUE(device.valid());

	uint32_t words[2] = { 0xffffffff, 0xffffffff };
	drm_nvdla_dev_query query = { .type = DRM_NVDLA_QUERY_DEVICE,
				      .size = sizeof(words[0]),
				      .pointer = reinterpret_cast<uintptr_t>(words) };
	ASSERT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), 0);
	EXPECT_EQ(words[0], static_cast<uint32_t>(DRM_NVDLA_VARIANT_NV_FULL));
	EXPECT_EQ(words[1], 0xffffffffU);
}

/* What a newer program knows and this kernel does not is zero, not what was in its memory. */
TEST(Query, ZeroesWhatItDoesNotKnow)
{
	Device device;
	ASSERT_TRUE(device.valid());

	const std::pair<drm_nvdla_query_type, size_t> queries[] = {
		{ DRM_NVDLA_QUERY_DEVICE, sizeof(drm_nvdla_device_info) },
		{ DRM_NVDLA_QUERY_CLIENT, sizeof(drm_nvdla_client_info) },
	};
	for (const auto &[type, known] : queries) {
		SCOPED_TRACE(type);
		std::vector<uint8_t> bytes(known + 24, 0xff);
		drm_nvdla_dev_query query = { .type = static_cast<uint32_t>(type),
					      .size = static_cast<uint32_t>(known + 16),
					      .pointer = reinterpret_cast<uintptr_t>(bytes.data()) };
		ASSERT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), 0);
		EXPECT_EQ(query.size, known);
		const auto tail = bytes.begin() + static_cast<std::ptrdiff_t>(known);
		EXPECT_EQ(std::count(tail, tail + 16, 0), 16);
		EXPECT_EQ(std::count(tail + 16, bytes.end(), 0xff), 8);
	}
}

TEST(Query, RefusesWhatItDoesNotKnow)
{
	Device device;
	ASSERT_TRUE(device.valid());

	drm_nvdla_dev_query query = { .type = 1000, .size = 0, .pointer = 0 };
	EXPECT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), -EINVAL);

	query = { .type = DRM_NVDLA_QUERY_DEVICE, .size = 64, .pointer = 8 };
	EXPECT_EQ(device.ioctl(DRM_IOCTL_NVDLA_DEV_QUERY, &query), -EFAULT);
}

} /* namespace nvdla::test */
