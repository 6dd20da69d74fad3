/* SPDX-License-Identifier: MIT */
/*
 * Compile a model and run it on a picture, in C: read-digit digits.onnx seven.pgm [DEVICE]
 * To compile this file: cc read_digit.c -o read-digit $(pkg-config --cflags --libs nvdla)
 *
 * Other models can be used, too: their input must be as large as the picture and have one channel,
 * with numbers from 0 to 255. The first output must have a number for each class.
 */
#include <nvdla/nvdla.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 1 << 20 };

static float numbers[MOST_PIXELS];

/*
 * Reads a PGM picture of 8-bit pixels into the array numbers. Returns the number of pixels; 0 if
 * the file cannot be read.
 */
static size_t read_picture(const char *path)
{
	FILE *file = fopen(path, "rb");
	unsigned int width = 0, height = 0, white = 0;
	size_t count = 0;
	int byte;

	if (!file)
		return 0;
	if (fscanf(file, "P5 %u %u %u", &width, &height, &white) == 3 && white == 255 &&
	    width < 1024 && height < 1024 && fgetc(file) != EOF) {
		while (count < (size_t)width * height && (byte = fgetc(file)) != EOF)
			numbers[count++] = (float)byte;
	}
	fclose(file);
	return width && count == (size_t)width * height ? count : 0;
}

static enum nvdla_status load(struct nvdla_device *device, const char *path,
			      struct nvdla_network **network)
{
	struct nvdla_model *model = NULL;
	enum nvdla_status status;
	const void *data;
	size_t size;

	status = nvdla_compile_file(path, NULL, &model);
	if (status == NVDLA_STATUS_OK)
		status = nvdla_model_get_data(model, &data, &size);
	if (status == NVDLA_STATUS_OK)
		status = nvdla_network_load(device, data, size, network);
	nvdla_model_free(model);
	return status;
}

/* Runs the network on the pixels in the array numbers. Sets digit to the class with the largest
 * output. */
static enum nvdla_status read_digit(struct nvdla_network *network, size_t pixels, size_t *digit)
{
	struct nvdla_tensor_info info = { .size = sizeof(info) };
	struct nvdla_request *request = NULL;
	enum nvdla_status status;
	size_t i;

	status = nvdla_network_output_info(network, 0, &info);
	if (status == NVDLA_STATUS_OK && info.num_elements > MOST_PIXELS)
		status = NVDLA_STATUS_UNSUPPORTED;
	if (status == NVDLA_STATUS_OK)
		status = nvdla_request_create(network, &request);
	if (status == NVDLA_STATUS_OK)
		status = nvdla_request_set_input_float(request, 0, numbers, pixels);
	if (status == NVDLA_STATUS_OK)
		status = nvdla_request_run(request, NULL);
	if (status == NVDLA_STATUS_OK)
		status = nvdla_request_get_output_float(request, 0, numbers, info.num_elements);
	for (*digit = 0, i = 1; status == NVDLA_STATUS_OK && i < info.num_elements; i++) {
		if (numbers[i] > numbers[*digit])
			*digit = i;
	}
	nvdla_request_free(request);
	return status;
}

static const char help[] =
	"usage: read-digit MODEL PICTURE.pgm [DEVICE]\n"
	"Prints the digit in a picture. DEVICE is a device file, or embedded: an NVDLA\n"
	"in software, the default.\n"
	"Example: read-digit digits.onnx seven.pgm\n";

/* Returns the exit code: output that is lost, as on a full disk, is an error. */
static int finish(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	perror("read-digit: write: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	struct nvdla_device *device = NULL;
	struct nvdla_network *network = NULL;
	enum nvdla_status status;
	size_t pixels, digit;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help, stdout);
		return finish();
	}
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("read-digit %s\n", nvdla_version());
		return finish();
	}
	if (argc < 3 || argc > 4) {
		fputs(help, stderr);
		return 2;
	}
	pixels = read_picture(argv[2]);
	if (!pixels) {
		fprintf(stderr, "read-digit: %s: no PGM picture of bytes\n", argv[2]);
		return 1;
	}
	status = nvdla_device_open(argc > 3 ? argv[3] : "embedded", &device);
	if (status == NVDLA_STATUS_OK)
		status = load(device, argv[1], &network);
	if (status == NVDLA_STATUS_OK)
		status = read_digit(network, pixels, &digit);
	if (status == NVDLA_STATUS_OK)
		printf("%zu\n", digit);
	else
		fprintf(stderr, "read-digit: %s\n", nvdla_last_error());
	nvdla_network_free(network);
	nvdla_device_free(device);
	return status == NVDLA_STATUS_OK ? finish() : 1;
}
