/* SPDX-License-Identifier: MIT */
/*
 * The functions by which TensorFlow Lite finds the delegate in this library.
 */
#include <tensorflow/lite/delegates/external/external_delegate_interface.h>

#include "command-line/message.h"
#include "delegate.h"

namespace
{

void say(const std::string &line)
{
	nvdla::say("nvdla: " + line + "\n");
}

/*
 * Returns a delegate whose Prepare() fails. TensorFlow Lite's own loader of delegates gets this
 * delegate after an error, because the loader cannot handle nullptr and takes no message.
 */
TfLiteDelegate *refusal()
{
	auto *delegate = new TfLiteDelegate{};

	delegate->Prepare = [](TfLiteContext *, TfLiteDelegate *) { return kTfLiteError; };
	return delegate;
}

} /* namespace */

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *keys, const char *const *values,
					      size_t count, void (*reportError)(const char *))
{
	nvdla::plugin::Options options;
	const auto refuse = [&](const nvdla::Error &error) -> TfLiteDelegate * {
		const std::string message = "nvdla: " + error.message();
		if (reportError) {
			reportError(message.c_str());
			return nullptr;
		}
		nvdla::say(message + "\n");
		return refusal();
	};

	for (size_t i = 0; i < count; i++) {
		if (auto set = options.set(keys[i], values[i]); !set)
			return refuse(set.error());
	}
	auto session = nvdla::plugin::Session::open(options, say);
	if (!session && session.error().code == nvdla::ErrorCode::InvalidArgument)
		return refuse(session.error());
	if (!session)
		say("the CPU computes everything: " + session.error().message());
	return nvdla::delegate::Delegate::create(session ? std::move(*session) : nullptr);
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
	if (delegate && delegate->data_)
		nvdla::delegate::Delegate::destroy(delegate);
	else
		delete delegate;
}
