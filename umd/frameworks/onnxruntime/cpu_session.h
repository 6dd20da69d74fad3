/* SPDX-License-Identifier: MIT */
/*
 * Computes a part of a graph on the CPU, with ONNX Runtime's own kernels.
 */
#pragma once

#include <memory>
#include <optional>

#include "frameworks/plugin/partition.h"
#include "model_writer.h"

namespace nvdla::ort
{

/**
 * \param[in] type element type by its number in ONNX files
 * \return the type as DataType; nothing for a type that the tensors of a partition cannot have
 */
std::optional<DataType> hostType(int32_t type);

/** \brief Runs a partition in an ONNX Runtime session, which is made at the first run */
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
