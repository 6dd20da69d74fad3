/* SPDX-License-Identifier: MIT */
#include "modelled_core.h"

#include <utility>

#include <nvdla/hw/registers.h>

namespace nvdla::test
{

sim::CoreConfig ModelledCore::config(const sim::Geometry &geometry)
{
	sim::CoreConfig config;
	config.geometry = geometry;
	config.cvsramSize = geometry.cvsramSize;
	/* The tasks of tests are too small to share their work. */
	config.threads = 1;
	config.diagnostics = [this](const sim::GuestError &error) {
		const std::scoped_lock lock(mutex_);
		errors_.push_back(error.unit + " " + error.where + ": " + error.reason);
	};
	return config;
}

std::vector<std::string> ModelledCore::takeErrors()
{
	const std::scoped_lock lock(mutex_);
	return std::exchange(errors_, {});
}

ModelledCore::ModelledCore(sim::Memory &dram, const sim::Geometry &geometry)
	: variant_(nvdla_variants[geometry.pciVariant]), core_(config(geometry), dram, [] {})
{
	static const nvdla_sequencer_ops ops = {
		[](void *context, nvdla_task *, int error) {
			static_cast<ModelledCore *>(context)->result_ = error;
			static_cast<ModelledCore *>(context)->done_ = true;
		},
		nullptr,
		nullptr,
		nullptr,
	};
	nvdla_io io = {};
	io.context = this;
	io.read = [](void *context, u32 reg) {
		ModelledCore &self = *static_cast<ModelledCore *>(context);
		self.reads_++;
		return self.core_.csbRead(self.place(reg));
	};
	io.write = [](void *context, u32 reg, u32 value) {
		ModelledCore &self = *static_cast<ModelledCore *>(context);
		self.writes_++;
		if (self.writer_)
			self.writer_->write(self.core_, self.place(reg), value);
		else
			self.core_.csbWrite(self.place(reg), value);
	};
	nvdla_sequencer *created = nullptr;
	nvdla_sequencer_create(&variant_, &io, &ops, this, &created);
	sequencer_.reset(created);
}

bool ModelledCore::run(nvdla_task *task)
{
	return run(task, nullptr);
}

bool ModelledCore::run(nvdla_task *task, nvdla_task *next)
{
	done_ = false;
	if (nvdla_sequencer_start(sequencer_.get(), task) != 0)
		return false;
	if (next && !done_ && nvdla_sequencer_follow(sequencer_.get(), next) != 0)
		return false;
	while (!done_) {
		core_.waitIdle();
		const uint32_t status = core_.csbRead(place(NVDLA_GLB_S_INTR_STATUS));
		/* Nothing runs and nothing happened: it never will. */
		if (status == 0)
			return false;
		core_.csbWrite(place(NVDLA_GLB_S_INTR_STATUS), status);
		reads_++;
		writes_++;
		nvdla_sequencer_irq(sequencer_.get(), status);
	}
	return result_ == 0;
}

void ModelledCore::reset()
{
	nvdla_sequencer_abort(sequencer_.get());
	core_.reset();
	if (writer_)
		writer_->cleared();
	nvdla_sequencer_reset(sequencer_.get());
}

} /* namespace nvdla::test */
