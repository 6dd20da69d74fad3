/* SPDX-License-Identifier: MIT */
#include "tools/report/node_names.h"

#include <cstdint>

#include "base/host/host_model.h"
#include "onnx.pb.h"

namespace nvdla::report
{

NodeNames nodeNames(std::span<const std::byte> model)
{
	NodeNames names;
	onnx::Model file;

	if (isTfliteFile(model) || model.size() > INT32_MAX ||
	    !file.ParseFromArray(model.data(), static_cast<int>(model.size())))
		return names;
	for (const onnx::Node &node : file.graph().node()) {
		if (node.output_size() && !node.name().empty() && node.name() != node.output(0))
			names.emplace(node.output(0), node.name());
	}
	return names;
}

} /* namespace nvdla::report */
