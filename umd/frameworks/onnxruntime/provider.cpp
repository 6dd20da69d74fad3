/* SPDX-License-Identifier: MIT */
#include "provider.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>

#include "base/io/guarded.h"
#include "command-line/message.h"
#include "cpu_session.h"

namespace nvdla::ort
{

namespace
{

/* An input or output of a partition, and its index in the fused node. ONNX Runtime replaces the
 * nodes of a partition by one fused node, which may have the inputs and outputs in another
 * order. */
struct Binding {
	ValueView view;
	size_t index;
};

Result<std::vector<Binding>> bindingsOf(const std::vector<ValueView> &views,
					const Result<std::vector<std::string>> &names)
{
	std::vector<Binding> bindings;

	if (!names)
		return tl::unexpected<Error>(names.error());
	for (const ValueView &view : views) {
		const auto found = std::find(names->begin(), names->end(), view.name);
		if (found == names->end())
			return fail(ErrorCode::Unsupported, "compile partition", view.name,
				    "ONNX Runtime has not put it at the partition's ends");
		bindings.push_back({ view, static_cast<size_t>(found - names->begin()) });
	}
	return bindings;
}

/* Computes a fused node, with which ONNX Runtime has replaced the nodes of a partition. */
class Kernel : public OrtNodeComputeInfo
{
public:
	Kernel(const Api &api, std::unique_ptr<plugin::Partition> partition,
	       std::vector<Binding> inputs, std::vector<Binding> outputs)
		: OrtNodeComputeInfo{}, api_(api), partition_(std::move(partition)),
		  inputs_(std::move(inputs)), outputs_(std::move(outputs))
	{
		ort_version_supported = ORT_API_VERSION;
		CreateState = [](OrtNodeComputeInfo *, OrtNodeComputeContext *,
				 void **state) noexcept -> OrtStatus * {
			*state = nullptr;
			return nullptr;
		};
		Compute = [](OrtNodeComputeInfo *self, void *,
			     OrtKernelContext *context) noexcept -> OrtStatus * {
			Kernel &kernel = *static_cast<Kernel *>(self);
			return kernel.api_.status(
				guarded("run partition", [&] { return kernel.run(context); }));
		};
		ReleaseState = [](OrtNodeComputeInfo *, void *) noexcept {};
	}

private:
	Result<void> run(OrtKernelContext *context);

	Api api_;
	/* Locked during a run: a session may run in several threads at the same time, a Partition
	 * only in one thread at a time. */
	std::mutex lock_;
	std::unique_ptr<plugin::Partition> partition_;
	std::vector<Binding> inputs_;
	std::vector<Binding> outputs_;
};

Result<void> Kernel::run(OrtKernelContext *context)
{
	std::vector<HostTensor> inputs, outputs;

	for (const Binding &input : inputs_) {
		const OrtValue *value = nullptr;
		const void *data = nullptr;
		size_t bytes = 0;
		NVDLA_ORT_TRY(api_, api_->KernelContext_GetInput(context, input.index, &value));
		NVDLA_ORT_TRY(api_, api_->GetTensorData(value, &data));
		NVDLA_ORT_TRY(api_, api_->GetTensorSizeInBytes(value, &bytes));
		/* HostTensor has no pointer to const; the cast is safe because run() only reads
		 * inputs. */
		inputs.push_back({ *hostType(input.view.type),
				   { static_cast<std::byte *>(const_cast<void *>(data)), bytes } });
	}
	for (const Binding &output : outputs_) {
		OrtValue *value = nullptr;
		void *data = nullptr;
		size_t bytes = 0;
		NVDLA_ORT_TRY(api_, api_->KernelContext_GetOutput(
					    context, output.index, output.view.shape.data(),
					    output.view.shape.size(), &value));
		NVDLA_ORT_TRY(api_, api_->GetTensorMutableData(value, &data));
		NVDLA_ORT_TRY(api_, api_->GetTensorSizeInBytes(value, &bytes));
		outputs.push_back(
			{ *hostType(output.view.type), { static_cast<std::byte *>(data), bytes } });
	}
	const std::lock_guard guard(lock_);
	return partition_->run(inputs, outputs);
}

/* Returns the options for the provider \a name that the application set for a session. */
Result<plugin::Options> readOptions(const Api &api, const std::string &name,
				    const OrtSessionOptions *session)
{
	plugin::Options options;
	std::string prefix = "ep." + name + ".";
	OrtKeyValuePairs *entries = nullptr;
	const char *const *keys = nullptr, *const *values = nullptr;
	size_t count = 0;

	/* In the keys of options, ONNX Runtime writes the provider's name in lower case. */
	std::transform(prefix.begin(), prefix.end(), prefix.begin(),
		       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
	NVDLA_ORT_TRY(api, api->GetSessionOptionsConfigEntries(session, &entries));
	const std::unique_ptr<OrtKeyValuePairs, void (*)(OrtKeyValuePairs *)> owned(
		entries, api->ReleaseKeyValuePairs);
	api->GetKeyValuePairs(entries, &keys, &values, &count);
	for (size_t i = 0; i < count; i++) {
		const std::string key = keys[i];
		if (!key.starts_with(prefix))
			continue;
		auto set = options.set(key.substr(prefix.size()), values[i]);
		if (!set)
			return forward(set);
	}
	return options;
}

void say(const std::string &line)
{
	nvdla::say("nvdla: " + line + "\n");
}

} /* namespace */

Factory::Factory(const Api &api, std::string name)
	: OrtEpFactory{}, api_(api), name_(std::move(name))
{
	ort_version_supported = ORT_API_VERSION;
	GetName = [](const OrtEpFactory *self) noexcept {
		return static_cast<const Factory *>(self)->name_.c_str();
	};
	GetVendor = [](const OrtEpFactory *) noexcept { return "NVDLA"; };
	GetVendorId = [](const OrtEpFactory *) noexcept -> uint32_t { return 0; };
	GetVersion = [](const OrtEpFactory *) noexcept { return NVDLA_VERSION; };
	GetSupportedDevices = supportedDevices;
	CreateEp = createProvider;
	ReleaseEp = [](OrtEpFactory *, OrtEp *provider) noexcept {
		delete static_cast<Provider *>(provider);
	};
	CreateDataTransfer = [](OrtEpFactory *,
				OrtDataTransferImpl **transfer) noexcept -> OrtStatus * {
		*transfer = nullptr;
		return nullptr;
	};
	IsStreamAware = [](const OrtEpFactory *) noexcept { return false; };
}

/*
 * ONNX Runtime lists the CPUs, GPUs and NPUs that it knows itself, and an NVDLA is none of them. So
 * the provider is registered for the CPU, in whose memory its tensors are.
 */
OrtStatus *Factory::supportedDevices(OrtEpFactory *self, const OrtHardwareDevice *const *devices,
				     size_t count, OrtEpDevice **found, size_t most,
				     size_t *foundCount) noexcept
{
	const Api &api = static_cast<Factory *>(self)->api_;

	*foundCount = 0;
	for (size_t i = 0; i < count && *foundCount < most; i++) {
		if (api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU)
			continue;
		OrtStatus *status = api.provider().CreateEpDevice(self, devices[i], nullptr,
								  nullptr, &found[*foundCount]);
		if (status)
			return status;
		++*foundCount;
	}
	return nullptr;
}

OrtStatus *Factory::createProvider(OrtEpFactory *self, const OrtHardwareDevice *const *,
				   const OrtKeyValuePairs *const *, size_t,
				   const OrtSessionOptions *sessionOptions, const OrtLogger *,
				   OrtEp **provider) noexcept
{
	const Factory &factory = *static_cast<Factory *>(self);

	return factory.api_.status(guarded("create provider", [&]() -> Result<void> {
		auto options = readOptions(factory.api_, factory.name_, sessionOptions);
		if (!options)
			return forward(options);
		auto session = plugin::Session::open(*options, say);
		if (!session && session.error().code == ErrorCode::InvalidArgument)
			return forward(session);
		if (!session)
			say("the CPU computes everything: " + session.error().message());
		*provider = new Provider(factory.api_, factory.name_,
					 session ? std::move(*session) : nullptr);
		return {};
	}));
}

Provider::Provider(const Api &api, std::string name, std::shared_ptr<plugin::Session> session)
	: OrtEp{}, api_(api), name_(std::move(name)), session_(std::move(session))
{
	ort_version_supported = ORT_API_VERSION;
	GetName = [](const OrtEp *self) noexcept {
		return static_cast<const Provider *>(self)->name_.c_str();
	};
	GetCapability = capability;
	Compile = compile;
	ReleaseNodeComputeInfos = [](OrtEp *, OrtNodeComputeInfo **kernels, size_t count) noexcept {
		for (size_t i = 0; i < count; i++)
			delete static_cast<Kernel *>(kernels[i]);
	};
}

/*
 * Returns true for a body of an operator such as If. Bodies are left to ONNX Runtime, because only
 * one graph of a model can have partitions: ONNX Runtime names the partitions of each graph by
 * numbers that begin anew. ONNX Runtime passes a body before the outer graph is complete, and then
 * without its parent node. So a graph that reads values of an outer graph counts as a body too.
 */
Result<bool> Provider::isBody(const OrtGraph *graph, const GraphView &view) const
{
	const OrtNode *parent = nullptr;

	NVDLA_ORT_TRY(api_, api_->Graph_GetParentNode(graph, &parent));
	return parent != nullptr || std::ranges::any_of(view.nodes, [](const NodeView &node) {
		       return std::ranges::any_of(node.inputs, &ValueView::isFromOuterScope);
	       });
}

Result<void> Provider::choose(const OrtGraph *graph, OrtEpGraphSupportInfo *support)
{
	OrtNodeFusionOptions options{};
	options.ort_version_supported = ORT_API_VERSION;
	options.drop_constant_initializers = true;

	auto view = readGraph(api_, graph);
	if (!view)
		return forward(view);
	auto body = isBody(graph, *view);
	if (!body)
		return forward(body);
	if (*body)
		return fail(ErrorCode::Unsupported, "place partitions", "",
			    "the graph is the body of an operator such as If, and ONNX Runtime "
			    "gives partitions of several graphs the same names");
	auto placed = placePartitions(api_, *view, session_);
	if (!placed)
		return forward(placed);
	for (const PlacedPartition &one : *placed)
		NVDLA_ORT_TRY(api_, api_.provider().EpGraphSupportInfo_AddNodesToFuse(
					    support, one.nodes.data(), one.nodes.size(), &options));
	placed_ = std::move(*placed);
	return {};
}

/* Tells ONNX Runtime which nodes the device computes. If there are none, that is no error: other
 * providers compute them. */
OrtStatus *Provider::capability(OrtEp *self, const OrtGraph *graph,
				OrtEpGraphSupportInfo *support) noexcept
{
	Provider &provider = *static_cast<Provider *>(self);

	if (!provider.session_ || provider.session_->isLost())
		return nullptr;
	const auto chosen =
		guarded("place partitions", [&] { return provider.choose(graph, support); });
	if (!chosen)
		static_cast<void>(guarded("place partitions", [&]() -> Result<void> {
			provider.session_->log("takes nothing: " + chosen.error().message());
			return {};
		}));
	return nullptr;
}

/* Returns a kernel with the partition that computes the fused node. */
Result<OrtNodeComputeInfo *> Provider::makeKernel(const OrtNode *fused)
{
	auto outputs = outputNames(api_, fused);
	if (!outputs)
		return forward(outputs);
	const auto found =
		std::find_if(placed_.begin(), placed_.end(), [&](const PlacedPartition &one) {
			return one.partition &&
			       std::find(outputs->begin(), outputs->end(),
					 one.outputs.front().name) != outputs->end();
		});
	if (found == placed_.end())
		return fail(ErrorCode::Unsupported, "compile partition", "",
			    "ONNX Runtime has put other nodes together");
	auto from = bindingsOf(found->inputs, inputNames(api_, fused));
	if (!from)
		return forward(from);
	auto to = bindingsOf(found->outputs, outputs);
	if (!to)
		return forward(to);
	return new Kernel(api_, std::move(found->partition), std::move(*from), std::move(*to));
}

OrtStatus *Provider::compile(OrtEp *self, const OrtGraph **, const OrtNode **fused, size_t count,
			     OrtNodeComputeInfo **kernels, OrtNode **) noexcept
{
	Provider &provider = *static_cast<Provider *>(self);

	for (size_t i = 0; i < count; i++) {
		auto kernel =
			guarded("compile partition", [&] { return provider.makeKernel(fused[i]); });
		if (!kernel)
			return provider.api_.status(kernel.error());
		kernels[i] = *kernel;
	}
	return nullptr;
}

} /* namespace nvdla::ort */
