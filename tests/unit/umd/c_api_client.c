/* SPDX-License-Identifier: MIT */
/*
 * An application in C.
 */
#include "c_api_client.h"

#include <nvdla/nvdla.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

enum { NUM_REQUESTS = 20 };

struct completions {
	atomic_int done;
	atomic_int failed;
};

static void completed(struct nvdla_request *request, enum nvdla_status status, const char *error,
		      void *context)
{
	struct completions *completions = context;

	(void)request;
	if (status == NVDLA_STATUS_OK && !*error)
		atomic_fetch_add(&completions->done, 1);
	else
		atomic_fetch_add(&completions->failed, 1);
}

static void count(const char *path, void *context)
{
	int *found = context;

	*found += path && *path;
}

/* A struct of an older, shorter version gets no more than it has room for. */
static int check_device(struct nvdla_device *device, const void *loadable, size_t size)
{
	struct nvdla_device_info info = { .size = sizeof(info), .core_clock_hz = 1 };
	struct nvdla_device_info old = { .size = offsetof(struct nvdla_device_info, atom_bytes),
					 .atom_bytes = 12345 };
	struct nvdla_load_options options = { .size = sizeof(options), .slots = 1 };
	struct nvdla_network *network = NULL;
	int found = 0;

	EXPECT(nvdla_enumerate(count, &found) == NVDLA_STATUS_OK);
	EXPECT(nvdla_enumerate(NULL, NULL) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_device_get_info(device, &info) == NVDLA_STATUS_OK);
	EXPECT(info.size == sizeof(info) && info.atom_bytes == 32 && info.max_buffer_bytes > 4096);
	EXPECT(info.path && *info.path && info.priorities & 2);
	EXPECT(!strcmp(info.variant, "nv_full") && info.engines == 63 && info.precisions == 7);
	EXPECT(info.capabilities == (NVDLA_CAPABILITY_WINOGRAD | NVDLA_CAPABILITY_COMPRESSION |
				     NVDLA_CAPABILITY_SDP_Y));
	EXPECT(info.max_batch == 32 && info.mac_channels == 64 && info.int8_kernels == 32);
	EXPECT(info.buffer_banks == 16 && info.bank_entries == 256 && info.entry_bytes == 128);
	EXPECT(info.weight_alignment == 256 && info.weight_size_alignment == 128);
	EXPECT(nvdla_device_get_info(device, &old) == NVDLA_STATUS_OK);
	EXPECT(old.hw_version == info.hw_version && old.atom_bytes == 12345);
	old.size = 0;
	EXPECT(nvdla_device_get_info(device, &old) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "sizeof"));

	EXPECT(nvdla_network_load_with(device, loadable, size, &options, &network) ==
	       NVDLA_STATUS_OK);
	nvdla_network_free(network);
	options.size = 1;
	EXPECT(nvdla_network_load_with(device, loadable, size, &options, &network) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	return 0;
}

static int check_errors(struct nvdla_device *device, const void *loadable, size_t size)
{
	struct nvdla_device *no_device = NULL;
	struct nvdla_network *network = NULL;

	EXPECT(nvdla_device_open("/dev/accel/accel250", &no_device) == NVDLA_STATUS_NO_DEVICE);
	EXPECT(!no_device);
	EXPECT(strstr(nvdla_last_error(), "/dev/accel/accel250"));
	EXPECT(!strncmp(nvdla_version(), "0.", 2));
	EXPECT(nvdla_device_open(NULL, &no_device) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_network_load(device, loadable, size / 2, &network) ==
	       NVDLA_STATUS_INVALID_FILE);
	EXPECT(nvdla_network_load(device, NULL, size, &network) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_network_load_file(device, "/nonexistent", &network) == NVDLA_STATUS_NOT_FOUND);
	EXPECT(!network);
	EXPECT(!strcmp(nvdla_status_name(NVDLA_STATUS_OK), "ok"));
	EXPECT(!strcmp(nvdla_status_name(NVDLA_STATUS_CANCELLED), "cancelled"));
	nvdla_device_free(NULL);
	nvdla_network_free(NULL);
	nvdla_request_free(NULL);
	nvdla_request_cancel(NULL);
	return 0;
}

static int check_tensors(struct nvdla_network *network)
{
	struct nvdla_tensor_info info = { .size = sizeof(info) };
	struct nvdla_tensor_info unsized = { .size = 0 };

	EXPECT(nvdla_network_input_info(network, 0, &unsized) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_network_num_inputs(network) == 1);
	EXPECT(nvdla_network_num_outputs(network) == 1);
	EXPECT(nvdla_network_input_info(network, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(!strcmp(info.name, "in") && info.type == NVDLA_DATA_INT8);
	EXPECT(info.n == 1 && info.c == 3 && info.h == 1 && info.w == 4);
	EXPECT(info.element_bytes == 12 && info.tensor_bytes == 128);
	EXPECT(nvdla_network_output_info(network, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(!strcmp(info.name, "out"));
	EXPECT(nvdla_network_output_info(network, 1, &info) == NVDLA_STATUS_INVALID_ARGUMENT);
	return 0;
}

static int check_run(struct nvdla_network *network)
{
	const char in[12] = "hello, core";
	const struct nvdla_run_options options = { .size = sizeof(options),
						   .timeout_ms = 60000,
						   .priority = 1 };
	const struct nvdla_run_options unknown = { .size = sizeof(unknown), .priority = 7 };
	const struct nvdla_run_options unsized = { .priority = 1 };
	struct nvdla_request *request;
	char out[12] = "";
	char tensor[128];

	EXPECT(nvdla_request_create(network, &request) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_wait(request, 0) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_set_input(request, 0, in, 11) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_set_input(request, 0, in, sizeof(in)) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_run(request, &unknown) == NVDLA_STATUS_UNSUPPORTED);
	EXPECT(nvdla_request_run(request, &unsized) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_run(request, &options) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_get_output(request, 0, out, 11) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_get_output(request, 0, out, sizeof(out)) == NVDLA_STATUS_OK);
	EXPECT(!memcmp(in, out, sizeof(in)));

	memset(tensor, 3, sizeof(tensor));
	EXPECT(nvdla_request_set_input_tensor(request, 0, tensor, sizeof(tensor)) ==
	       NVDLA_STATUS_OK);
	EXPECT(nvdla_request_run(request, NULL) == NVDLA_STATUS_OK);
	memset(tensor, 0, sizeof(tensor));
	EXPECT(nvdla_request_get_output_tensor(request, 0, tensor, sizeof(tensor)) ==
	       NVDLA_STATUS_OK);
	EXPECT(tensor[0] == 3 && tensor[127] == 3);
	nvdla_request_free(request);
	return 0;
}

static int check_numbers(struct nvdla_network *network)
{
	const double scales[] = { 0.5, 0.25, 2 };
	const int32_t zeroes[] = { 1, 0, -3 };
	const float in[12] = { 0, 1, 2, 3, 0.25f, 0.5f, 1, 100, -2, 0, 2, 4 };
	const float expected[12] = { 0, 1, 2, 3, 0.25f, 0.5f, 1, 31.75f, -2, 0, 2, 4 };
	double scales_there[3] = { 0 };
	int32_t zeroes_there[3] = { 0 };
	struct nvdla_tensor_info info = { .size = sizeof(info) };
	struct nvdla_request *request;
	float out[12] = { 0 };

	EXPECT(nvdla_network_get_input_quantization(network, 0, NULL, NULL, 0) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_set_input_quantization(network, 0, scales, zeroes, 2) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_network_set_input_quantization(network, 0, scales, NULL, 3) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_network_set_input_quantization(network, 1, scales, zeroes, 1) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_network_set_input_quantization(network, 0, scales, zeroes, 3) ==
	       NVDLA_STATUS_OK);
	EXPECT(nvdla_network_set_output_quantization(network, 0, scales, zeroes, 3) ==
	       NVDLA_STATUS_OK);
	EXPECT(nvdla_network_input_info(network, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(info.num_elements == 12 && info.num_quantizations == 3);
	EXPECT(nvdla_network_get_output_quantization(network, 0, scales_there, zeroes_there, 2) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_network_get_output_quantization(network, 0, scales_there, zeroes_there, 3) ==
	       NVDLA_STATUS_OK);
	EXPECT(scales_there[2] == 2 && zeroes_there[2] == -3);

	EXPECT(nvdla_request_create(network, &request) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_set_input_float(request, 0, in, 11) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_set_input_float(request, 0, in, 12) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_run(request, NULL) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_get_output_float(request, 0, out, 11) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_get_output_float(request, 0, out, 12) == NVDLA_STATUS_OK);
	EXPECT(!memcmp(out, expected, sizeof(out)));
	nvdla_request_free(request);

	EXPECT(nvdla_network_set_input_quantization(network, 0, NULL, NULL, 0) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_input_info(network, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(info.num_quantizations == 0);
	return 0;
}

static int check_buffers(struct nvdla_device *device, struct nvdla_network *network)
{
	struct nvdla_buffer *buffer;
	struct nvdla_buffer *imported;
	struct nvdla_request *request;
	void *bytes;
	int fd;

	EXPECT(nvdla_buffer_create(device, 4096, &buffer) == NVDLA_STATUS_OK);
	EXPECT(nvdla_buffer_export(buffer, &fd) == NVDLA_STATUS_OK);
	EXPECT(nvdla_buffer_import(device, fd, &imported) == NVDLA_STATUS_OK);
	close(fd);
	EXPECT(nvdla_buffer_size(imported) == 4096);
	EXPECT(nvdla_buffer_begin_access(buffer, 1000, &bytes) == NVDLA_STATUS_OK);
	EXPECT(nvdla_buffer_begin_access(buffer, 1000, &bytes) == NVDLA_STATUS_BUSY);
	memset(bytes, 5, 128);
	nvdla_buffer_end_access(buffer);

	EXPECT(nvdla_request_create(network, &request) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_bind_input(request, 0, buffer, 1) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_bind_input(request, 0, buffer, 0) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_bind_output(request, 0, imported, 1024) == NVDLA_STATUS_OK);
	nvdla_buffer_free(buffer);
	EXPECT(nvdla_request_run(request, NULL) == NVDLA_STATUS_OK);
	EXPECT(nvdla_buffer_begin_access(imported, 1000, &bytes) == NVDLA_STATUS_OK);
	EXPECT(!memcmp(bytes, (char *)bytes + 1024, 128) && *(char *)bytes == 5);
	nvdla_buffer_free(imported);
	EXPECT(nvdla_request_bind_output(request, 0, NULL, 0) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_bind_input(request, 0, NULL, 0) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_run(request, NULL) == NVDLA_STATUS_OK);
	nvdla_request_free(request);
	return 0;
}

/* The network ends with its requests answered, whatever state they were in. */
static int check_async(struct nvdla_device *device, const char *path)
{
	struct completions completions = { 0 };
	struct nvdla_request *requests[NUM_REQUESTS];
	struct nvdla_network *network;
	int i;

	EXPECT(nvdla_network_load_file(device, path, &network) == NVDLA_STATUS_OK);
	for (i = 0; i < NUM_REQUESTS; i++) {
		EXPECT(nvdla_request_create(network, &requests[i]) == NVDLA_STATUS_OK);
		EXPECT(nvdla_request_submit(requests[i], NULL, completed, &completions) ==
		       NVDLA_STATUS_OK);
	}
	EXPECT(nvdla_request_wait(requests[0], -1) == NVDLA_STATUS_OK);
	nvdla_request_cancel(requests[NUM_REQUESTS - 1]);
	nvdla_network_free(network);
	EXPECT(atomic_load(&completions.done) >= 1);
	EXPECT(atomic_load(&completions.done) + atomic_load(&completions.failed) == NUM_REQUESTS);
	for (i = 0; i < NUM_REQUESTS; i++)
		nvdla_request_free(requests[i]);
	return 0;
}

int c_api_client(const void *loadable, size_t size, const char *path)
{
	struct nvdla_device *device;
	struct nvdla_network *network;
	int line;

	EXPECT(nvdla_device_open("embedded", &device) == NVDLA_STATUS_OK);
	line = check_errors(device, loadable, size);
	if (!line)
		line = check_device(device, loadable, size);
	EXPECT(nvdla_network_load(device, loadable, size, &network) == NVDLA_STATUS_OK);
	if (!line)
		line = check_tensors(network);
	if (!line)
		line = check_run(network);
	if (!line)
		line = check_numbers(network);
	if (!line)
		line = check_buffers(device, network);
	if (!line)
		line = check_async(device, path);
	nvdla_network_free(network);
	nvdla_device_free(device);
	return line;
}
