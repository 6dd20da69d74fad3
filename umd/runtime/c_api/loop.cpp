/* SPDX-License-Identifier: MIT */
#include "objects.h"

using namespace nvdla;

using c_api::failure;
using c_api::missing;

namespace
{

nvdla_status give(Result<EventLoop> from, nvdla_loop **loop)
{
	if (!from)
		return failure(from.error());
	*loop = new nvdla_loop{ std::move(*from) };
	return NVDLA_STATUS_OK;
}

} /* namespace */

std::optional<EventLoop> c_api::loopOf(const nvdla_loop *loop)
{
	return loop ? std::optional(loop->loop) : std::nullopt;
}

enum nvdla_status nvdla_loop_create(struct nvdla_loop **loop)
{
	return c_api::guardedCall("nvdla_loop_create", [&]() -> nvdla_status {
		if (!loop)
			return missing("create loop", "loop");
		return give(EventLoop::create(), loop);
	});
}

enum nvdla_status nvdla_loop_attach(struct uv_loop_s *uv_loop, struct nvdla_loop **loop)
{
	return c_api::guardedCall("nvdla_loop_attach", [&]() -> nvdla_status {
		if (!uv_loop || !loop)
			return missing("attach loop", uv_loop ? "loop" : "uv_loop");
		return give(EventLoop::attach(uv_loop), loop);
	});
}

void nvdla_loop_free(struct nvdla_loop *loop)
{
	delete loop;
}

enum nvdla_status nvdla_watch_create(struct nvdla_loop *loop, nvdla_device_event event,
				     void *context, struct nvdla_watch **watch)
{
	return c_api::guardedCall("nvdla_watch_create", [&]() -> nvdla_status {
		if (!event || !watch)
			return missing("watch devices", event ? "watch" : "event");
		auto created = DeviceWatch::create(
			[event, context](const std::string &path, bool present) {
				event(path.c_str(), present, context);
			},
			c_api::loopOf(loop));
		if (!created)
			return failure(created.error());
		*watch = new nvdla_watch{ std::move(*created) };
		return NVDLA_STATUS_OK;
	});
}

void nvdla_watch_free(struct nvdla_watch *watch)
{
	delete watch;
}
