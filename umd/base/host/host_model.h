/* SPDX-License-Identifier: MIT */
/*
 * A model that a library of the host runs, if it is there.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/data_type.h>
#include <nvdla/error.h>

struct nvdla_host_functions;

namespace nvdla
{

/** \return how ONNX files number a type of elements; 0: they have none */
int32_t onnxType(DataType type);
/** \return the type that ONNX files number so; nothing: tensors cannot have it */
std::optional<DataType> typeOfOnnx(int32_t type);

/** \brief A tensor of a model */
struct HostValue {
	std::string name;
	int32_t type = 0;	    /**< as ONNX files number it */
	std::vector<int64_t> shape; /**< -1 where the size is not known */
};

/** \brief A tensor and its elements, the caller's */
struct HostArray {
	HostValue what;
	std::span<std::byte> bytes;
};

/** \brief A model that ONNX Runtime runs; from any number of threads at once */
class HostModel
{
public:
	/**
	 * \param[in] model an ONNX file, which is not trusted; not needed afterwards
	 * \return Unsupported if there is no library, with the package to install; what it says of
	 * a model that it cannot run
	 */
	static Result<HostModel> open(std::span<const std::byte> model);

	/** \return the outputs, as far as the file says what they are */
	Result<std::vector<HostValue>> outputs() const;
	/** \return what outputs with these names are, with these inputs */
	Result<std::vector<HostValue>> shapes(std::span<const HostArray> inputs,
					      std::span<const std::string> names) const;
	/** \return an error also if an output has another type or shape; nothing is written then */
	Result<void> run(std::span<const HostArray> inputs,
			 std::span<const HostArray> outputs) const;

private:
	HostModel(const nvdla_host_functions *library, void *model);

	const nvdla_host_functions *library_;
	std::shared_ptr<void> model_;
};

} /* namespace nvdla */
