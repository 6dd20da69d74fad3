/* SPDX-License-Identifier: MIT */
#include "task_reader.h"

namespace nvdla
{

int TaskReader::read(const drm_nvdla_task &args)
{
	int error = graph_.read(args.graph, args.num_operations, args.node_size);

	if (!error)
		error = operations_.read(args.operations, args.num_operations, args.operation_size);
	if (!error)
		error = surfaces_.read(args.surfaces, args.num_operations, args.surface_size);
	if (!error)
		error = luts_.read(args.luts, args.num_luts, args.lut_size);
	if (error)
		return error;

	source_.graph = graph_.data();
	source_.operations = operations_.data();
	source_.surfaces = surfaces_.data();
	source_.luts = luts_.data();
	source_.num_operations = args.num_operations;
	source_.num_luts = args.num_luts;
	source_.num_extents = args.num_addresses;
	return 0;
}

int refuseTask(uint64_t user, uint32_t userSize, uint32_t task, nvdla_refusal &why)
{
	why.error.task = task;
	if (user)
		writeStruct(user, userSize, why.error);
	return -EINVAL;
}

} /* namespace nvdla */
