/* SPDX-License-Identifier: MIT */
/*
 * The execution provider on a device that the test can take away.
 */
#include "frameworks/onnxruntime/provider.h"
#include "gate_device.h"

namespace nvdla::test
{

namespace
{

std::shared_ptr<GateDevice> gate;

class GateFactory : public ort::Factory
{
public:
	GateFactory(const ort::Api &api, const char *name) : ort::Factory(api, name)
	{
		CreateEp = create;
	}

private:
	static OrtStatus *create(OrtEpFactory *self, const OrtHardwareDevice *const *,
				 const OrtKeyValuePairs *const *, size_t, const OrtSessionOptions *,
				 const OrtLogger *, OrtEp **provider) noexcept
	{
		const auto &factory = *static_cast<GateFactory *>(self);
		auto device = Device::open(std::shared_ptr<DeviceBackend>(gate));
		if (!device)
			return factory.api().status(device.error());
		auto session = std::make_shared<plugin::Session>(
			std::move(*device), plugin::Options{}, [](const std::string &line) {
				std::fprintf(stderr, "nvdla: %s\n", line.c_str());
			});
		*provider = new ort::Provider(factory.api(), factory.name(), std::move(session));
		return nullptr;
	}
};

} /* namespace */

} /* namespace nvdla::test */

extern "C" __attribute__((visibility("default"))) OrtStatus *
CreateEpFactories(const char *name, const OrtApiBase *base, const OrtLogger *,
		  OrtEpFactory **factories, size_t, size_t *count)
{
	nvdla::test::gate = nvdla::test::GateDevice::open();
	factories[0] = new nvdla::test::GateFactory(nvdla::ort::Api(*base), name);
	*count = 1;
	return nullptr;
}

extern "C" __attribute__((visibility("default"))) OrtStatus *ReleaseEpFactory(OrtEpFactory *factory)
{
	delete static_cast<nvdla::test::GateFactory *>(factory);
	nvdla::test::gate.reset();
	return nullptr;
}

extern "C" __attribute__((visibility("default"))) void loseDevice()
{
	nvdla::test::gate->lose();
}
