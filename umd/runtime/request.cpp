/* SPDX-License-Identifier: MIT */
#include <nvdla/request.h>

#include <algorithm>

#include <fmt/core.h>
#include <nvdla/network.h>

#include "base/io/guarded.h"
#include "runtime/binding.h"
#include "runtime/network_impl.h"
#include "runtime/pipeline.h"

namespace nvdla
{

namespace
{

Result<void> addZeroes(std::vector<std::vector<std::byte>> &values,
		       const std::vector<TensorDesc> &tensors)
{
	for (const TensorDesc &tensor : tensors) {
		auto added = guarded("create request", "tensor " + tensor.describe(),
				     [&]() -> Result<void> {
					     values.emplace_back(tensor.size);
					     return {};
				     });
		if (!added)
			return added;
	}
	return {};
}

/* Returns whether the process may use a priority; false for invalid ones. */
bool mayUse(const Device &device, Priority priority)
{
	return priority == Priority::Normal ||
	       (priority <= Priority::High &&
		(device.info().priorities >> static_cast<uint32_t>(priority) & 1));
}

/* Returns whether \a timeout ends after the last time that the clock can represent. */
bool endless(std::chrono::milliseconds timeout)
{
	using Clock = std::chrono::steady_clock;

	return timeout > std::chrono::duration_cast<std::chrono::milliseconds>(
				 Clock::time_point::max() - Clock::now());
}

} /* namespace */

Result<Request> Request::create(const Network &network)
{
	return guarded("create request", [&]() -> Result<Request> {
		auto state = std::make_shared<RequestState>(network.impl_->pipeline);
		const Program &program = state->pipeline->program();

		if (auto inputs = addZeroes(state->inputs, program.inputs); !inputs)
			return forward(inputs);
		if (auto outputs = addZeroes(state->outputs, program.outputs); !outputs)
			return forward(outputs);
		for (const TensorDesc &output : program.outputs) {
			if (!output.isOpen())
				continue;
			HostResult &empty = state->results[output.memory];
			empty.shape = output.signature->shape;
			std::ranges::replace(empty.shape, openAxis, 0U);
		}
		return Request(std::move(state));
	});
}

Request &Request::operator=(Request &&other) noexcept
{
	std::swap(state_, other.state_);
	return *this;
}

Request::~Request()
{
	if (state_)
		cancel();
}

Result<void> Request::setInput(size_t index, std::span<const std::byte> tensor)
{
	constexpr const char *what = "set input";
	return guarded(what, [&]() -> Result<void> {
		const auto &inputs = state_->pipeline->program().inputs;

		if (auto there = checkIndex(what, "input", index, inputs); !there)
			return there;
		const TensorDesc &desc = inputs[index];
		const std::string where = fmt::format("input {} ({})", index, desc.describe());
		if (tensor.size() != desc.size)
			return fail(ErrorCode::InvalidArgument, what, where,
				    fmt::format("{} bytes given, the tensor has {}", tensor.size(),
						desc.size));
		if (inFlight())
			return fail(ErrorCode::Busy, what, where, "the request is in flight");
		if (state_->bound.contains(desc.memory))
			return fail(ErrorCode::InvalidArgument, what, where,
				    "is bound to a buffer; write there, or call unbindInput()");
		std::copy(tensor.begin(), tensor.end(), state_->inputs[index].begin());
		return {};
	});
}

Result<void> Request::setInputElements(size_t index, std::span<const std::byte> elements,
				       ElementOrder order)
{
	return guarded("set input", [&]() -> Result<void> {
		const auto &inputs = state_->pipeline->program().inputs;

		if (auto there = checkIndex("set input", "input", index, inputs); !there)
			return there;
		std::vector<std::byte> tensor(inputs[index].size);
		if (auto packed = packElements(inputs[index], elements, tensor, order); !packed)
			return packed;
		return setInput(index, tensor);
	});
}

Result<void> Request::setInputFloat(size_t index, std::span<const float> values, ElementOrder order)
{
	return guarded("set input", [&]() -> Result<void> {
		const auto &inputs = state_->pipeline->program().inputs;

		if (auto there = checkIndex("set input", "input", index, inputs); !there)
			return there;
		std::vector<std::byte> tensor(inputs[index].size);
		if (auto packed = packFloat(inputs[index], values, tensor, order); !packed)
			return packed;
		return setInput(index, tensor);
	});
}

/* Binds a tensor to \a place, or unbinds it if there is none. */
Result<void> Request::bind(const char *kind, const std::vector<TensorDesc> &tensors, size_t index,
			   std::optional<TensorPlace> place)
{
	constexpr const char *what = "bind tensor";
	return guarded(what, [&]() -> Result<void> {
		const Pipeline &pipeline = *state_->pipeline;

		if (auto there = checkIndex(what, kind, index, tensors); !there)
			return there;
		const TensorDesc &desc = tensors[index];
		const std::string where = fmt::format("{} {} ({})", kind, index, desc.describe());
		if (inFlight())
			return fail(ErrorCode::Busy, what, where, "the request is in flight");
		if (!place) {
			state_->bound.erase(desc.memory);
			return {};
		}
		if (auto fits = checkBinding(pipeline.program(), pipeline.loadable(),
					     pipeline.device(), desc, *place, where);
		    !fits)
			return fits;
		state_->bound.insert_or_assign(desc.memory, std::move(*place));
		return {};
	});
}

Result<void> Request::bindInput(size_t index, TensorPlace place)
{
	return bind("input", state_->pipeline->program().inputs, index, std::move(place));
}

Result<void> Request::bindOutput(size_t index, TensorPlace place)
{
	return bind("output", state_->pipeline->program().outputs, index, std::move(place));
}

Result<void> Request::unbindInput(size_t index)
{
	return bind("input", state_->pipeline->program().inputs, index, {});
}

Result<void> Request::unbindOutput(size_t index)
{
	return bind("output", state_->pipeline->program().outputs, index, {});
}

Result<std::span<const std::byte>> Request::output(size_t index) const
{
	constexpr const char *what = "get output";
	return guarded(what, [&]() -> Result<std::span<const std::byte>> {
		const auto &outputs = state_->pipeline->program().outputs;

		if (auto there = checkIndex(what, "output", index, outputs); !there)
			return forward(there);
		if (inFlight())
			return fail(ErrorCode::Busy, what, fmt::format("output {}", index),
				    "the request is in flight");
		if (state_->bound.contains(outputs[index].memory))
			return fail(ErrorCode::InvalidArgument, what,
				    fmt::format("output {}", index),
				    "is bound to a buffer; read it there");
		if (outputs[index].isOpen())
			return std::span<const std::byte>(
				state_->results.at(outputs[index].memory).bytes);
		return std::span<const std::byte>(state_->outputs[index]);
	});
}

Result<TensorDesc> Request::outputDesc(size_t index) const
{
	constexpr const char *what = "describe output";
	return guarded(what, [&]() -> Result<TensorDesc> {
		const auto &outputs = state_->pipeline->program().outputs;

		if (auto there = checkIndex(what, "output", index, outputs); !there)
			return forward(there);
		const TensorDesc &desc = outputs[index];
		if (!desc.isOpen())
			return desc;
		if (inFlight())
			return fail(ErrorCode::Busy, what, fmt::format("output {}", index),
				    "the request is in flight");
		TensorDesc actual = TensorDesc::plain(desc.name, desc.type,
						      state_->results.at(desc.memory).shape);
		actual.memory = desc.memory;
		actual.quantization = desc.quantization;
		return actual;
	});
}

Result<std::vector<std::byte>> Request::outputElements(size_t index, ElementOrder order) const
{
	return guarded("get output", [&]() -> Result<std::vector<std::byte>> {
		auto tensor = output(index);
		if (!tensor)
			return forward(tensor);
		auto desc = outputDesc(index);
		if (!desc)
			return forward(desc);
		if (tensor->empty())
			return std::vector<std::byte>();
		return unpackElements(*desc, *tensor, order);
	});
}

Result<std::vector<float>> Request::outputFloat(size_t index, ElementOrder order) const
{
	return guarded("get output", [&]() -> Result<std::vector<float>> {
		auto tensor = output(index);
		if (!tensor)
			return forward(tensor);
		auto desc = outputDesc(index);
		if (!desc)
			return forward(desc);
		if (tensor->empty())
			return std::vector<float>();
		return unpackFloat(*desc, *tensor, order);
	});
}

/* Marks the request as in flight; the caller has to call queue() next. */
Result<void> Request::begin(const RunOptions &options, Callback callback)
{
	constexpr const char *what = "run network";
	return guarded(what, [&]() -> Result<void> {
		const std::string &path = state_->pipeline->path();

		if (auto here = state_->pipeline->process().check(what, path); !here)
			return here;
		const Device device = state_->pipeline->device();
		if (options.statistics && !device.has(Feature::Statistics))
			return fail(ErrorCode::Unsupported, what, path,
				    "the device has no statistics");
		if (!mayUse(device, options.priority))
			return fail(ErrorCode::Unsupported, what, path,
				    fmt::format("priority {} is not for this process",
						static_cast<uint32_t>(options.priority)));
		{
			const std::lock_guard guard(state_->lock);
			if (state_->inFlight)
				return fail(ErrorCode::Busy, what, path,
					    "the request is in flight already");
			if (auto apart = checkOverlaps(*state_, state_->pipeline->program(),
						       state_->pipeline->loadable(),
						       device.info().atomBytes);
			    !apart)
				return apart;
			state_->inFlight = true;
			state_->run++;
			state_->callback = std::move(callback);
			state_->options = options;
			state_->submitted = RequestState::Clock::now();
			state_->cancelled = false;
		}
		return {};
	});
}

/* Runs the request in this thread if \a here is true and Pipeline::runHere() can; otherwise gives
 * the request to the loop. */
Result<void> Request::queue(bool here)
{
	auto taken = guarded("run network", [&]() -> Result<void> {
		if (here && state_->pipeline->runHere(state_))
			return {};
		return state_->pipeline->submit(state_);
	});
	if (!taken) {
		const std::lock_guard guard(state_->lock);
		state_->inFlight = false;
		state_->callback = nullptr;
	}
	return taken;
}

Result<void> Request::submit(const RunOptions &options, Callback callback)
{
	return guarded("run network", [&]() -> Result<void> {
		if (auto begun = begin(options, std::move(callback)); !begun)
			return begun;
		return queue(false);
	});
}

std::future<Result<RunReport>> Request::runAsync(const RunOptions &options)
{
	auto promise = std::make_shared<std::promise<Result<RunReport>>>();
	auto future = promise->get_future();
	auto submitted = submit(options, [promise](const Result<RunReport> &result) {
		promise->set_value(guarded("run network", [&] { return copyOf(result); }));
	});

	if (!submitted)
		promise->set_value(forward(submitted));
	return future;
}

Result<RunReport> Request::wait(std::optional<std::chrono::milliseconds> timeout)
{
	constexpr const char *what = "wait for request";

	return guarded(what, [&]() -> Result<RunReport> {
		if (auto here = state_->pipeline->process().check(what, state_->pipeline->path());
		    !here)
			return forward(here);
		std::unique_lock guard(state_->lock);
		auto done = [this] { return !state_->inFlight; };

		if (!done()) {
			if (state_->pipeline->inLoopThread())
				return fail(ErrorCode::InvalidArgument, what, "",
					    "the thread of the loop would wait for itself");
			if (!timeout || endless(*timeout))
				state_->changed.wait(guard, done);
			else if (!state_->changed.wait_for(guard, *timeout, done))
				return fail(ErrorCode::Timeout, what, "",
					    fmt::format("not done after {} ms", timeout->count()));
		}
		if (!state_->result)
			return fail(ErrorCode::InvalidArgument, what, "", "it was never submitted");
		return copyOf(*state_->result);
	});
}

Result<RunReport> Request::run(const RunOptions &options)
{
	return guarded("run network", [&]() -> Result<RunReport> {
		if (state_->pipeline->inLoopThread())
			return fail(ErrorCode::InvalidArgument, "run network", "",
				    "the thread of the loop would wait for itself; use submit()");
		if (auto begun = begin(options, nullptr); !begun)
			return forward(begun);
		/* Run in this thread if possible, because waking the loop's thread, and then this
		 * one, takes longer. */
		if (auto queued = queue(true); !queued)
			return forward(queued);
		return wait();
	});
}

void Request::cancel()
{
	uint64_t run;

	if (!state_->pipeline->process().isHere())
		return;
	{
		const std::lock_guard guard(state_->lock);
		if (!state_->inFlight)
			return;
		run = state_->run;
	}
	state_->pipeline->cancel(state_, run);
}

bool Request::inFlight() const
{
	const std::lock_guard guard(state_->lock);
	return state_->inFlight;
}

} /* namespace nvdla */
