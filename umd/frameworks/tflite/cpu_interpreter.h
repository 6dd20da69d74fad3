/* SPDX-License-Identifier: MIT */
/*
 * Computes a part of a graph on the CPU, with TensorFlow Lite's own kernels.
 */
#pragma once

#include <memory>
#include <vector>

#include <tensorflow/lite/c/c_api.h>

#include "frameworks/plugin/partition.h"

namespace nvdla::delegate
{

/** \brief Runs a partition in a TensorFlow Lite interpreter, which is made at the first run */
class CpuInterpreter : public plugin::CpuNetwork
{
public:
	/**
	 * \param[in] model contents of a TensorFlow Lite file with only the partition
	 * \param[in] threads number of threads, with the meaning of
	 * TfLiteContext::recommended_num_threads
	 */
	CpuInterpreter(std::vector<std::byte> model, int threads)
		: bytes_(std::move(model)), threads_(threads)
	{
	}

	Result<void> run(std::span<const HostTensor> inputs,
			 std::span<const HostTensor> outputs) override;

private:
	Result<void> make();

	std::vector<std::byte> bytes_;
	int threads_;
	std::unique_ptr<TfLiteModel, decltype(&TfLiteModelDelete)> model_{ nullptr,
									   TfLiteModelDelete };
	std::unique_ptr<TfLiteInterpreter, decltype(&TfLiteInterpreterDelete)> interpreter_{
		nullptr, TfLiteInterpreterDelete
	};
};

} /* namespace nvdla::delegate */
