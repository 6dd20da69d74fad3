/* SPDX-License-Identifier: MIT */
/* The embedded device in place of a device file: every open has a core of its own. */
#include <nvdla/device.h>

#include "device.h"
#include "device/embedded/embedded_device.h"

namespace nvdla::test
{

namespace
{

class EmbeddedNode : public Node
{
public:
	explicit EmbeddedNode(std::unique_ptr<EmbeddedDevice> device) : device_(std::move(device))
	{
	}

	int fd() const override { return -1; }

	int ioctl(unsigned long request, void *argument) override
	{
		return device_->ioctl(request, argument);
	}

	void *map(uint64_t offset, size_t size) override
	{
		return device_->map(offset, size).value_or(nullptr);
	}

	void unmap(void *address, size_t size) override
	{
		device_->unmap(static_cast<std::byte *>(address), size);
	}

	int fenceStatus(uint32_t syncobj) override { return device_->fenceStatus(syncobj); }

private:
	std::unique_ptr<EmbeddedDevice> device_;
};

} /* namespace */

std::unique_ptr<Node> Node::open(const std::string &)
{
	auto device = EmbeddedDevice::open(nvdla::Device::embeddedPath);
	if (!device)
		return nullptr;
	return std::make_unique<EmbeddedNode>(std::move(*device));
}

} /* namespace nvdla::test */
