/* SPDX-License-Identifier: MIT */
/* Copies a slot's inputs before a run, and its outputs and states after the run. */
#include "slot.h"

#include <cstring>

namespace nvdla
{

Result<void> Slot::writeInputs()
{
	for (size_t i = 0; i < common_.program.inputs.size(); i++) {
		const TensorDesc &desc = common_.program.inputs[i];
		if (request_->bound.contains(desc.memory))
			continue;
		auto access = this->access(desc.memory, CpuAccess::Write);
		if (!access)
			return forward(access);
		std::memcpy(access->bytes().data() + desc.offset, request_->inputs[i].data(),
			    desc.size);
	}
	return {};
}

Result<void> Slot::finish()
{
	auto read = readOutputs();

	return read ? keepStates() : read;
}

Result<void> Slot::readOutputs()
{
	for (size_t i = 0; i < common_.program.outputs.size(); i++) {
		const TensorDesc &desc = common_.program.outputs[i];
		/* Skip bound outputs, and open ones, which a host step has written. */
		if (desc.isOpen() || request_->bound.contains(desc.memory))
			continue;
		auto access = this->access(desc.memory, CpuAccess::Read);
		if (!access)
			return forward(access);
		std::memcpy(request_->outputs[i].data(), access->bytes().data() + desc.offset,
			    desc.size);
	}
	return {};
}

/* Called after a run that succeeded: copies each state from the tensor that the run wrote to the
 * tensor that the next run reads. */
Result<void> Slot::keepStates()
{
	for (const auto &[before, after] : common_.program.states) {
		auto from = access(after.memory, CpuAccess::Read);
		if (!from)
			return forward(from);
		auto to = access(before.memory, CpuAccess::Write);
		if (!to)
			return forward(to);
		std::memcpy(to->bytes().data() + before.offset, from->bytes().data() + after.offset,
			    after.size);
	}
	return {};
}

} /* namespace nvdla */
