/* SPDX-License-Identifier: MIT */
/*
 * A partition on the CPU, by ONNX Runtime's own kernels.
 */
#pragma once

#include <memory>
#include <optional>

#include "frameworks/plugin/partition.h"
#include "model_writer.h"

namespace nvdla::ort
{

/** \return an element type of files as tensors of plug-ins have it; nothing for others */
std::optional<DataType> hostType(int32_t type);

/** \brief A session of its own, which is made when it is needed first */
class CpuSession : public plugin::CpuNetwork
{
public:
	CpuSession(const Api &api, WrittenModel model) : api_(api), model_(std::move(model)) {}
	~CpuSession() override;

	Result<void> run(std::span<const HostTensor> inputs,
			 std::span<const HostTensor> outputs) override;

private:
	Result<void> make();

	Api api_;
	WrittenModel model_;
	OrtEnv *environment_ = nullptr;
	OrtSession *session_ = nullptr;
	OrtMemoryInfo *memory_ = nullptr;
};

} /* namespace nvdla::ort */
