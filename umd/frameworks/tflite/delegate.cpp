/* SPDX-License-Identifier: MIT */
#include "delegate.h"

#include <map>
#include <optional>

#include <tensorflow/lite/builtin_ops.h>

#include "base/io/guarded.h"

namespace nvdla::delegate
{

namespace
{

std::optional<DataType> hostType(TfLiteType type)
{
	switch (type) {
	case kTfLiteFloat32:
		return DataType::Float;
	case kTfLiteFloat16:
		return DataType::Half;
	case kTfLiteInt8:
		return DataType::Int8;
	case kTfLiteUInt8:
		return DataType::UInt8;
	case kTfLiteInt16:
		return DataType::Int16;
	default:
		return {};
	}
}

Result<std::vector<HostTensor>> hostTensors(const TfLiteContext &context,
					    std::span<const int> indices)
{
	std::vector<HostTensor> tensors;

	for (const int index : indices) {
		const TfLiteTensor &tensor = context.tensors[index];
		const auto type = hostType(tensor.type);
		if (!type || !tensor.data.raw)
			return fail(ErrorCode::InvalidArgument, "run partition",
				    tensor.name ? tensor.name : "",
				    "has no memory, or elements of another type");
		tensors.push_back(
			{ *type,
			  { reinterpret_cast<std::byte *>(tensor.data.raw), tensor.bytes } });
	}
	return tensors;
}

} /* namespace */

/* State of the node with which the interpreter has replaced the nodes of a partition. */
struct Delegate::Kernel {
	using MemoryOf = std::span<std::byte> (plugin::Partition::*)(size_t, DataType) const;

	std::shared_ptr<Delegate> delegate;
	PlacedPartition placed;
	/* Index of a tensor of the graph -> memory of the partition that the tensor uses. */
	std::map<int, char *> lent = {};

	void lend(const TfLiteContext &context, const std::vector<int> &tensors, MemoryOf memoryOf);
	void takeBack(const TfLiteContext &context);
};

/*
 * Makes tensors use the partition's memory, so that run() need not copy them. TensorFlow Lite
 * treats the partition's memory like memory that the application provides. A tensor that other
 * nodes use too stays in TensorFlow Lite's memory: such a node may compute in place, so that its
 * input and its output are in the same memory.
 */
void Delegate::Kernel::lend(const TfLiteContext &context, const std::vector<int> &tensors,
			    MemoryOf memoryOf)
{
	for (size_t i = 0; i < tensors.size(); i++) {
		TfLiteTensor &tensor = context.tensors[tensors[i]];
		const auto type = hostType(tensor.type);
		if (!type || tensor.allocation_type != kTfLiteArenaRw ||
		    !placed.own.contains(tensors[i]))
			continue;
		const auto memory = (*placed.partition.*memoryOf)(i, *type);
		if (memory.empty() || memory.size() != tensor.bytes)
			continue;
		tensor.allocation_type = kTfLiteCustom;
		tensor.data.raw = reinterpret_cast<char *>(memory.data());
		lent[tensors[i]] = tensor.data.raw;
	}
}

/* Undoes lend(), before the partition and its memory are freed. */
void Delegate::Kernel::takeBack(const TfLiteContext &context)
{
	for (const auto &[index, memory] : lent) {
		TfLiteTensor &tensor = context.tensors[index];
		if (tensor.allocation_type != kTfLiteCustom || tensor.data.raw != memory)
			continue;
		tensor.allocation_type = kTfLiteArenaRw;
		tensor.data.raw = nullptr;
	}
}

Delegate::Delegate(std::shared_ptr<plugin::Session> session)
	: interface_{}, session_(std::move(session))
{
	interface_.data_ = this;
	interface_.Prepare = prepare;
	interface_.flags = kTfLiteDelegateFlagsNone;
}

TfLiteDelegate *Delegate::create(std::shared_ptr<plugin::Session> session)
{
	const std::shared_ptr<Delegate> delegate(new Delegate(std::move(session)));

	delegate->self_ = delegate;
	return &delegate->interface_;
}

void Delegate::destroy(TfLiteDelegate *delegate)
{
	const auto last = std::move(static_cast<Delegate *>(delegate->data_)->self_);
}

/*
 * Returns success also if the device can compute no operator: after an error, TensorFlow Lite would
 * drop the delegate or stop.
 */
TfLiteStatus Delegate::prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
	Delegate &self = *static_cast<Delegate *>(delegate->data_);

	if (!self.session_ || self.session_->isLost())
		return kTfLiteOk;
	const std::lock_guard guard(self.lock_);
	/* Nodes of all partitions in the form of a TfLiteIntArray: the number of entries, then the
	 * entries. */
	std::vector<int> nodes;
	const auto planned = guarded("plan partitions", [&]() -> Result<void> {
		auto plan = makePlan(context, self.session_);
		if (!plan)
			return forward(plan);
		self.plan_ = std::move(*plan);
		nodes = self.plan_.nodes;
		nodes.insert(nodes.begin(), static_cast<int>(nodes.size()));
		return {};
	});
	if (!planned) {
		static_cast<void>(guarded("plan partitions", [&]() -> Result<void> {
			self.session_->log("takes nothing: " + planned.error().message());
			return {};
		}));
		return kTfLiteOk;
	}
	if (self.plan_.nodes.empty())
		return kTfLiteOk;

	TfLiteRegistration kernel{};
	kernel.init = initKernel;
	kernel.free = freeKernel;
	kernel.prepare = prepareKernel;
	kernel.invoke = invokeKernel;
	kernel.builtin_code = kTfLiteBuiltinDelegate;
	kernel.custom_name = "NVDLA";
	kernel.version = 1;
	const TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(
		context, kernel, reinterpret_cast<TfLiteIntArray *>(nodes.data()), delegate);
	self.plan_ = {};
	return status;
}

void *Delegate::initKernel(TfLiteContext *, const char *buffer, size_t)
{
	const auto &params = *reinterpret_cast<const TfLiteDelegateParams *>(buffer);
	Delegate &self = *static_cast<Delegate *>(params.delegate->data_);
	const auto made = guarded("make partition", [&]() -> Result<Kernel *> {
		const auto nodes = indices(params.nodes_to_replace);
		auto found = self.plan_.partitions.find({ nodes.begin(), nodes.end() });
		if (found == self.plan_.partitions.end())
			return nullptr;
		return new Kernel{ self.self_, std::move(found->second) };
	});

	/* Returns nullptr without a kernel, because init cannot report errors; prepareKernel() then
	 * fails. */
	return made.value_or(nullptr);
}

void Delegate::freeKernel(TfLiteContext *context, void *data)
{
	const std::unique_ptr<Kernel> kernel(static_cast<Kernel *>(data));

	if (kernel)
		kernel->takeBack(*context);
}

/* The kernel's shapes are fixed. For other shapes, TensorFlow Lite prepares the whole delegate
 * again. */
TfLiteStatus Delegate::prepareKernel(TfLiteContext *context, TfLiteNode *node)
{
	auto *kernel = static_cast<Kernel *>(node->user_data);

	if (!kernel)
		return kTfLiteDelegateError;
	const auto lent = guarded("prepare partition", [&]() -> Result<void> {
		kernel->lend(*context, kernel->placed.inputs, &plugin::Partition::inputMemory);
		kernel->lend(*context, kernel->placed.outputs, &plugin::Partition::outputMemory);
		return {};
	});
	return lent ? kTfLiteOk : kTfLiteDelegateError;
}

TfLiteStatus Delegate::invokeKernel(TfLiteContext *context, TfLiteNode *node)
{
	Kernel &kernel = *static_cast<Kernel *>(node->user_data);
	const auto done = guarded("run partition", [&]() -> Result<void> {
		auto inputs = hostTensors(*context, kernel.placed.inputs);
		if (!inputs)
			return forward(inputs);
		auto outputs = hostTensors(*context, kernel.placed.outputs);
		if (!outputs)
			return forward(outputs);
		return kernel.placed.partition->run(*inputs, *outputs);
	});
	if (done)
		return kTfLiteOk;
	const auto words =
		guarded("", [&]() -> Result<std::string> { return done.error().message(); });
	context->ReportError(context, "nvdla: %s", words ? words->c_str() : "out of memory");
	return kTfLiteError;
}

} /* namespace nvdla::delegate */
