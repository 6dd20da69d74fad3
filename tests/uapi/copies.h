/* SPDX-License-Identifier: MIT */
/*
 * Jobs for tests that want to see what the driver makes of them.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <xf86drm.h>

#include "device.h"

namespace nvdla::test
{

/** \brief Jobs of BDMA copies, on an open file of their own */
class Copies
{
public:
	Copies() : source_(device, bytes), destination_(device, bytes)
	{
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
		std::iota(source_.bytes().begin(), source_.bytes().end(), uint8_t{ 1 });
	}

	/**
	 * \brief Runs one job of at least \a operations copies and waits for it
	 * \return 0 or the first error: -errno of the submit, or what its fence carries
	 */
	int run(unsigned int operations, uint32_t timeoutMs = 0)
	{
		while (task_.operations.size() < operations)
			task_.addCopy(0, 1, 1024, bytes / 1024);
		Submit submit(task_);
		submit.timeoutMs = timeoutMs;
		submit.context = context;
		const uint32_t syncobj = device.createSyncobj();
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		int ret = submit.run(device);
		if (!ret)
			ret = device.waitSyncobj(syncobj);
		if (!ret)
			ret = std::min(device.fenceStatus(syncobj), 0);
		drmSyncobjDestroy(device.fd(), syncobj);
		return ret;
	}

	/** \return whether the last job did what it should */
	bool right() const { return std::ranges::equal(source_.bytes(), destination_.bytes()); }
	void clear() { std::ranges::fill(destination_.bytes(), uint8_t{ 0 }); }

	Device device;
	/** \brief Of \a device; 0 for its own */
	uint32_t context = 0;

private:
	static constexpr uint32_t bytes = 256 * 1024;

	Buffer source_;
	Buffer destination_;
	CopyTask task_;
};

} /* namespace nvdla::test */
