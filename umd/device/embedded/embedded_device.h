/* SPDX-License-Identifier: MIT */
/*
 * A device model in this process that answers the driver's ioctls.
 */
#pragma once

#include <memory>

#include <nvdla/error.h>

#include "device/backend.h"
#include "device/embedded/embedded_options.h"

namespace nvdla
{

/**
 * \brief The kernel driver's interface on top of the device model
 *
 * The source files of kmd/engine, from which the kernel module is made, check descriptors and
 * program operations here, too. Each object has a core and memory of its own.
 */
class EmbeddedDevice : public DeviceBackend
{
public:
	/**
	 * \param[in] path a path for which isEmbeddedPath() is true, with options
	 * \return InvalidArgument, see parseEmbeddedPath(), or DeviceFailed
	 */
	static Result<std::unique_ptr<EmbeddedDevice>> open(const std::string &path);
	/** \brief Open with parsed options; \a path is used in messages */
	static Result<std::unique_ptr<EmbeddedDevice>> open(const std::string &path,
							    const EmbeddedOptions &options);
	~EmbeddedDevice() override;

	const std::string &path() const override;
	int ioctl(unsigned long request, void *argument) override;
	tl::expected<std::byte *, int> map(uint64_t offset, size_t size) override;
	void unmap(std::byte *address, size_t size) override;
	int fenceStatus(uint32_t syncobj) override;

protected:
	std::unique_ptr<LentThread> lend() override;

private:
	class State;
	class Waiter;
	explicit EmbeddedDevice(std::unique_ptr<State> state);

	std::unique_ptr<State> state_;
};

} /* namespace nvdla */
