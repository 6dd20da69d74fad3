// SPDX-License-Identifier: MIT
/*
 * One job on the core, through the driver's interface alone: SDP doubles a cube.
 *   double NODE
 * Needs no library, so that it can be built for every processor in a second.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/nvdla_accel.h>
#include <drm/nvdla_descriptors.h>

#define WIDTH 5
#define HEIGHT 3
#define BYTES 4096

struct buffer {
	uint32_t handle;
	int8_t *bytes;
};

static int device;

static int call(unsigned long request, void *argument, const char *name)
{
	int ret = ioctl(device, request, argument);

	if (ret)
		perror(name);
	return ret;
}

static int create(struct buffer *buffer)
{
	struct drm_nvdla_bo_create create = { .size = BYTES };
	struct drm_nvdla_bo_mmap_offset place = { 0 };

	if (call(DRM_IOCTL_NVDLA_BO_CREATE, &create, "BO_CREATE"))
		return -1;
	place.handle = buffer->handle = create.handle;
	if (call(DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &place, "BO_MMAP_OFFSET"))
		return -1;
	buffer->bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, device,
			     (off_t)place.offset);
	return buffer->bytes == MAP_FAILED ? -1 : 0;
}

/* The CPU's turn: a job that writes the buffer is waited for. */
static int begin_access(const struct buffer *buffer)
{
	struct drm_nvdla_bo_prep prep = {
		.handle = buffer->handle,
		.flags = DRM_NVDLA_BO_READ | DRM_NVDLA_BO_WRITE,
		.timeout_ns = INT64_MAX,
	};

	return call(DRM_IOCTL_NVDLA_BO_PREP, &prep, "BO_PREP");
}

static int end_access(const struct buffer *buffer)
{
	struct drm_nvdla_bo_fini fini = { .handle = buffer->handle };

	return call(DRM_IOCTL_NVDLA_BO_FINI, &fini, "BO_FINI");
}

static struct nvdla_data_cube cube(uint32_t atom, int16_t address)
{
	return (struct nvdla_data_cube){
		.type = NVDLA_MEM_MC,
		.address = address,
		.size = WIDTH * HEIGHT * atom,
		.width = WIDTH,
		.height = HEIGHT,
		.channel = (uint16_t)atom,
		.line_stride = WIDTH * atom,
		.surf_stride = WIDTH * HEIGHT * atom,
	};
}

static int submit(uint32_t atom, const struct buffer *source, const struct buffer *destination)
{
	union nvdla_operation_desc operation = { .sdp = {
		.src_precision = NVDLA_PRECISION_INT8,
		.dst_precision = NVDLA_PRECISION_INT8,
		.lut_index = -1,
		.out_cvt = { .scale = 2, .enable = 1 },
		.batch_num = 1,
	} };
	union nvdla_surface_desc surface = { .sdp = {
		.src_data = cube(atom, 0),
		.x1_data.address = -1,
		.x2_data.address = -1,
		.y_data.address = -1,
		.dst_data = cube(atom, 1),
	} };
	struct nvdla_graph_node node = { .op_type = NVDLA_OP_SDP, .fused_parent.index = -1 };
	const struct drm_nvdla_address addresses[] = {
		{ .handle = source->handle, .size = BYTES },
		{ .handle = destination->handle, .size = BYTES },
	};
	const struct drm_nvdla_task task = {
		.graph = (uintptr_t)&node,
		.operations = (uintptr_t)&operation,
		.surfaces = (uintptr_t)&surface,
		.addresses = (uintptr_t)addresses,
		.num_operations = 1,
		.num_addresses = 2,
		.address_size = sizeof(addresses[0]),
		.node_size = sizeof(node),
		.operation_size = sizeof(operation),
		.surface_size = sizeof(surface),
	};
	struct drm_nvdla_error error = { 0 };
	struct drm_nvdla_submit job = {
		.tasks = (uintptr_t)&task,
		.error = (uintptr_t)&error,
		.num_tasks = 1,
		.task_size = sizeof(task),
		.error_size = sizeof(error),
	};
	int i;

	for (i = 0; i < NVDLA_NUM_OP_TYPES; i++)
		node.consumers[i].index = -1;
	if (!call(DRM_IOCTL_NVDLA_SUBMIT, &job, "SUBMIT"))
		return 0;
	fprintf(stderr, "operation %u, member %u of %u\n", error.operation, error.offset,
		error.member_of);
	return -1;
}

int main(int argc, char **argv)
{
	struct drm_nvdla_device_info info = { 0 };
	struct drm_nvdla_dev_query query = {
		.type = DRM_NVDLA_QUERY_DEVICE,
		.size = sizeof(info),
		.pointer = (uintptr_t)&info,
	};
	struct buffer source, destination;
	uint32_t i, size;

	device = open(argc > 1 ? argv[1] : "", O_RDWR);
	if (device < 0) {
		perror("open");
		return 1;
	}
	if (call(DRM_IOCTL_NVDLA_DEV_QUERY, &query, "DEV_QUERY") || create(&source) ||
	    create(&destination) || begin_access(&source) || begin_access(&destination))
		return 1;
	size = WIDTH * HEIGHT * info.atom_bytes;
	for (i = 0; i < size; i++)
		source.bytes[i] = (int8_t)(i % 60);
	memset(destination.bytes, -1, BYTES);
	if (end_access(&source) || end_access(&destination) ||
	    submit(info.atom_bytes, &source, &destination) || begin_access(&destination))
		return 1;

	for (i = 0; i < BYTES; i++) {
		int wanted = i < size ? (int)(i % 60) * 2 : -1;

		if (destination.bytes[i] != wanted) {
			fprintf(stderr, "byte %u is %d and not %d\n", i, destination.bytes[i], wanted);
			return 1;
		}
	}
	return 0;
}
