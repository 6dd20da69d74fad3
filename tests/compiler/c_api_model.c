/* SPDX-License-Identifier: MIT */
/*
 * An application in C that compiles models.
 */
#include "c_api_model.h"

#include <nvdla/nvdla.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

enum { PIXELS = 64, NUM_SAMPLES = 4 };

static int check_errors(const char *path)
{
	struct nvdla_compile_options options = { .size = sizeof(options) };
	const float samples[PIXELS + 1] = { 0 };
	const char *const shapes[] = { "1x1x8x9" };
	struct nvdla_model *model = NULL;

	EXPECT(nvdla_compile(NULL, 0, NULL, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_compile("no model", 8, NULL, NULL) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_compile("no model", 8, NULL, &model) == NVDLA_STATUS_INVALID_FILE);
	EXPECT(nvdla_compile_file("/nowhere.onnx", NULL, &model) == NVDLA_STATUS_NOT_FOUND);
	EXPECT(strstr(nvdla_last_error(), "/nowhere.onnx"));
	options.samples = samples;
	options.num_sample_numbers = PIXELS + 1;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "num_sample_numbers: is 65, no multiple of the 64"));
	options.num_sample_numbers = PIXELS;
	options.ranges = NVDLA_RANGE_POWERS_OF_TWO + 1;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "ranges"));
	options.ranges = 0;
	options.precision = NVDLA_DATA_HALF;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "precision: NVDLA_DATA_HALF excludes samples"));
	options.precision = NVDLA_DATA_BOOL;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "precision: is 34; there is NVDLA_DATA_HALF"));
	options = (struct nvdla_compile_options){ .size = sizeof(options), .strategy = "bands=1" };
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "'bands=1': can be auto, always or never"));
	options.strategy = "never";
	options.target = "nv_tiny";
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "'nv_tiny': is not known; there are: nv_full"));
	options.target = "nv_full";
	options.shapes = shapes;
	options.num_shapes = 1;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "has 8 along axis 3 in the file, 9 are given"));
	options.shapes = NULL;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	options.num_shapes = 0;
	options.host = NVDLA_HOST_NEVER + 1;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "host: is 2"));
	options.host = NVDLA_HOST_NEVER;
	options.sram_size = 65536;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_OK);
	nvdla_model_free(model);
	model = NULL;
	options.size = 0;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(!model);
	nvdla_model_free(NULL);
	return 0;
}

/* What counts only with samples, or with another option, is an error that names it. */
static int check_unused(const char *path)
{
	const float samples[PIXELS] = { 0 };
	const struct {
		const char *field;
		struct nvdla_compile_options options;
	} unused[] = {
		{ "num_sample_numbers", { .num_sample_numbers = PIXELS } },
		{ "ranges", { .ranges = NVDLA_RANGE_ENTROPY } },
		{ "percentile", { .percentile = 99 } },
		{ "precision", { .precision = NVDLA_DATA_INT16 } },
		{ "keep_bias", { .calibration_table = "table.json", .keep_bias = 1 } },
		{ "ranges",
		  { .calibration_table = "table.json", .ranges = NVDLA_RANGE_ENTROPY } },
		{ "keep_bias", { .keep_bias = 1 } },
		{ "percentile",
		  { .samples = samples, .num_sample_numbers = PIXELS, .percentile = 99 } },
	};
	struct nvdla_model *model = NULL;
	size_t i;

	for (i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		struct nvdla_compile_options options = unused[i].options;

		options.size = sizeof(options);
		EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_INVALID_ARGUMENT);
		EXPECT(strstr(nvdla_last_error(), unused[i].field));
		EXPECT(strstr(nvdla_last_error(), "has no effect without"));
	}
	return 0;
}

/* Each door knows the file of the other, and names the function for it. */
static int check_kinds(struct nvdla_device *device, const struct nvdla_model *model)
{
	static const char tflite[32] = "\x1c\0\0\0TFL3";
	const float samples[PIXELS] = { 0 };
	const struct nvdla_compile_options options = { .size = sizeof(options),
						       .samples = samples,
						       .num_sample_numbers = PIXELS };
	struct nvdla_model *again;
	struct nvdla_network *network;
	const void *data;
	size_t size;

	EXPECT(nvdla_model_get_data(model, &data, &size) == NVDLA_STATUS_OK);
	EXPECT(nvdla_compile(data, size, NULL, &again) == NVDLA_STATUS_INVALID_FILE);
	EXPECT(strstr(nvdla_last_error(), "is a loadable, which is compiled already"));
	EXPECT(nvdla_compile(data, size, &options, &again) == NVDLA_STATUS_INVALID_FILE);
	EXPECT(strstr(nvdla_last_error(), "nvdla_network_load()"));
	EXPECT(nvdla_network_load(device, tflite, sizeof(tflite), &network) ==
	       NVDLA_STATUS_INVALID_FILE);
	EXPECT(strstr(nvdla_last_error(), "is a TensorFlow Lite model; make a loadable of it"));
	return 0;
}

/* NVDLA_DATA_HALF is the type that a float model has without samples. */
static int check_half(const char *path, const struct nvdla_model *plain)
{
	const struct nvdla_compile_options options = { .size = sizeof(options),
						       .precision = NVDLA_DATA_HALF };
	const void *data, *of_plain;
	struct nvdla_model *model;
	size_t size, size_of_plain;
	int equal;

	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_OK);
	EXPECT(nvdla_model_get_data(model, &data, &size) == NVDLA_STATUS_OK);
	EXPECT(nvdla_model_get_data(plain, &of_plain, &size_of_plain) == NVDLA_STATUS_OK);
	equal = size == size_of_plain && !memcmp(data, of_plain, size);
	nvdla_model_free(model);
	return equal ? 0 : __LINE__;
}

static int check_layers(const struct nvdla_model *model, int calibrated)
{
	struct nvdla_layer_info info = { .size = sizeof(info) };
	struct nvdla_layer_info old = { .size = offsetof(struct nvdla_layer_info, num_operations),
					.num_operations = 12345 };
	const size_t count = nvdla_model_num_layers(model);

	EXPECT(count >= 5);
	EXPECT(nvdla_model_layer(model, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(!strcmp(info.type, "Conv") && !strcmp(info.cpu, "") && info.num_operations == 2);
	EXPECT(!info.has_error == !calibrated && (!calibrated || info.own_error_ratio > 30));
	EXPECT(nvdla_model_layer(model, count - 1, &info) == NVDLA_STATUS_OK);
	EXPECT(!strcmp(info.type, "Softmax") && strlen(info.cpu) > 10);
	EXPECT(nvdla_model_layer(model, 0, &old) == NVDLA_STATUS_OK);
	EXPECT(!strcmp(old.type, "Conv") && old.num_operations == 12345);
	EXPECT(nvdla_model_layer(model, count, &info) == NVDLA_STATUS_INVALID_ARGUMENT);
	return 0;
}

/* What is compiled can be loaded; type: of the input's elements there. */
static int check_loads(struct nvdla_device *device, const struct nvdla_model *model,
		       enum nvdla_data_type type)
{
	struct nvdla_tensor_info info = { .size = sizeof(info) };
	struct nvdla_network *network;
	const void *data = NULL;
	size_t size = 0;

	EXPECT(nvdla_model_get_data(model, &data, &size) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_load(device, data, size, &network) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_input_info(network, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(info.type == type && info.num_elements == PIXELS);
	EXPECT(info.rank == 4 &&
	       info.shape[0] * info.shape[1] * info.shape[2] * info.shape[3] == PIXELS);
	nvdla_network_free(network);
	return 0;
}

int c_api_model(const char *path)
{
	struct nvdla_compile_options options = { .size = sizeof(options) };
	float samples[NUM_SAMPLES * PIXELS];
	struct nvdla_device *device;
	struct nvdla_model *model;
	int line = check_errors(path);
	int i;

	if (line)
		return line;
	line = check_unused(path);
	if (line)
		return line;
	EXPECT(nvdla_device_open("embedded", &device) == NVDLA_STATUS_OK);
	EXPECT(nvdla_compile_file(path, NULL, &model) == NVDLA_STATUS_OK);
	line = check_layers(model, 0);
	if (line)
		return line;
	line = check_kinds(device, model);
	if (!line)
		line = check_half(path, model);
	if (!line)
		line = check_loads(device, model, NVDLA_DATA_HALF);
	nvdla_model_free(model);
	if (line)
		return line;
	for (i = 0; i < NUM_SAMPLES * PIXELS; i++)
		samples[i] = (float)(i * 37 % 256);
	options.samples = samples;
	options.num_sample_numbers = NUM_SAMPLES * PIXELS;
	options.precision = NVDLA_DATA_INT16;
	EXPECT(nvdla_compile_file(path, &options, &model) == NVDLA_STATUS_OK);
	line = check_layers(model, 1);
	if (line)
		return line;
	line = check_loads(device, model, NVDLA_DATA_INT16);
	nvdla_model_free(model);
	nvdla_device_free(device);
	return line;
}
