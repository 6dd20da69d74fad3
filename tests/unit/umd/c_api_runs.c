/* SPDX-License-Identifier: MIT */
/*
 * The application in C, continued: what runs did, loops, pools, devices that come, messages.
 */
#include "c_api_client.h"

#include <nvdla/nvdla.h>
#include <stdatomic.h>
#include <string.h>
#include <uv.h>

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

enum { NUM_POOL_REQUESTS = 12, NUM_STREAMS = 3, NUM_ELEMENTS = 12, TENSOR_BYTES = 128 };

static int check_operation(const struct nvdla_report *report, int counted)
{
	struct nvdla_operation_info operation = { .size = sizeof(operation) };

	EXPECT(nvdla_report_get_operation(report, 0, 0, &operation) == NVDLA_STATUS_OK);
	EXPECT(operation.engine == 0 && operation.started && operation.completed);
	EXPECT(!operation.counted == !counted);
	EXPECT(operation.start_ns <= operation.end_ns);
	EXPECT(nvdla_report_get_operation(report, 0, 1, &operation) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_report_get_operation(report, 1, 0, &operation) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	return 0;
}

static int check_report(const struct nvdla_report *report, int counted)
{
	struct nvdla_report_info info = { .size = sizeof(info) };
	struct nvdla_report_info old = { .size = offsetof(struct nvdla_report_info, num_steps),
					 .num_steps = 12345 };
	struct nvdla_step_info step = { .size = sizeof(step) };

	EXPECT(nvdla_report_get_info(report, &info) == NVDLA_STATUS_OK);
	EXPECT(info.num_steps == 1 && info.duration_ns > 0);
	EXPECT(nvdla_report_get_info(report, &old) == NVDLA_STATUS_OK);
	EXPECT(old.duration_ns == info.duration_ns && old.num_steps == 12345);
	EXPECT(nvdla_report_get_step(report, 0, &step) == NVDLA_STATUS_OK);
	EXPECT(!step.cpu && step.num_tasks == 1 && step.num_operations == 1);
	EXPECT(step.num_operation_infos == 1 && step.num_runs == 1);
	EXPECT(step.submit_ns <= step.start_ns && step.start_ns <= step.end_ns);
	EXPECT(step.duration_ns <= info.duration_ns);
	EXPECT(nvdla_report_get_step(report, 1, &step) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "there are 1"));
	return check_operation(report, counted);
}

/* A report is the caller's, whatever becomes of the request. */
static int check_reports(struct nvdla_network *network)
{
	const struct nvdla_run_options counting = { .size = sizeof(counting), .statistics = 1 };
	struct nvdla_request *request;
	struct nvdla_report *plain, *counted;
	int line;

	EXPECT(nvdla_request_create(network, &request) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_get_report(request, &plain) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_request_run(request, NULL) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_get_report(request, &plain) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_run(request, &counting) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_get_report(request, &counted) == NVDLA_STATUS_OK);
	nvdla_request_free(request);
	line = check_report(plain, 0);
	if (!line)
		line = check_report(counted, 1);
	nvdla_report_free(plain);
	nvdla_report_free(counted);
	nvdla_report_free(NULL);
	return line;
}

/* The elements go in and out with the channels last. */
static int check_order(struct nvdla_device *device, const void *loadable, size_t size,
		       enum nvdla_element_order order)
{
	struct nvdla_load_options options = { .size = sizeof(options), .order = order };
	/* 3 channels of 4 pixels; the network passes bytes on. */
	const char pixels[NUM_ELEMENTS] = { 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11 };
	struct nvdla_network *network;
	struct nvdla_request *request;
	char tensor[TENSOR_BYTES], out[NUM_ELEMENTS];
	float numbers[NUM_ELEMENTS];

	EXPECT(nvdla_network_load_with(device, loadable, size, &options, &network) ==
	       NVDLA_STATUS_OK);
	EXPECT(nvdla_request_create(network, &request) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_set_input(request, 0, pixels, NUM_ELEMENTS) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_run(request, NULL) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_get_output_tensor(request, 0, tensor, TENSOR_BYTES) ==
	       NVDLA_STATUS_OK);
	/* Atoms of 32 bytes: the channels of a pixel lie together. */
	EXPECT(!memcmp(tensor, pixels, 3) && !memcmp(tensor + 32, pixels + 3, 3));
	EXPECT(nvdla_request_get_output(request, 0, out, NUM_ELEMENTS) == NVDLA_STATUS_OK);
	EXPECT(!memcmp(out, pixels, NUM_ELEMENTS));
	EXPECT(nvdla_request_get_output_float(request, 0, numbers, NUM_ELEMENTS) ==
	       NVDLA_STATUS_OK);
	EXPECT(nvdla_request_set_input_float(request, 0, numbers, NUM_ELEMENTS) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_run(request, NULL) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_get_output(request, 0, out, NUM_ELEMENTS) == NVDLA_STATUS_OK);
	EXPECT(!memcmp(out, pixels, NUM_ELEMENTS) && numbers[1] == 4);
	nvdla_request_free(request);
	nvdla_network_free(network);
	options.order = 7;
	EXPECT(nvdla_network_load_with(device, loadable, size, &options, &network) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	return 0;
}

static void count_done(struct nvdla_request *request, enum nvdla_status status, const char *error,
		       void *context)
{
	int *done = context;

	(void)request;
	*done += status == NVDLA_STATUS_OK && !*error;
}

/* The application's own loop calls back, in this thread: nothing here is atomic. */
static int check_own_loop(struct nvdla_device *device, const void *loadable, size_t size)
{
	struct nvdla_load_options options = { .size = sizeof(options) };
	struct nvdla_network *network;
	struct nvdla_request *request;
	uv_loop_t uv;
	int done = 0;

	EXPECT(!uv_loop_init(&uv));
	EXPECT(nvdla_loop_attach(&uv, &options.loop) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_load_with(device, loadable, size, &options, &network) ==
	       NVDLA_STATUS_OK);
	nvdla_loop_free(options.loop);
	EXPECT(nvdla_request_create(network, &request) == NVDLA_STATUS_OK);
	EXPECT(nvdla_request_submit(request, NULL, count_done, &done) == NVDLA_STATUS_OK);
	while (!done)
		uv_run(&uv, UV_RUN_ONCE);
	EXPECT(done == 1);
	nvdla_request_free(request);
	nvdla_network_free(network);
	uv_run(&uv, UV_RUN_DEFAULT);
	EXPECT(!uv_loop_close(&uv));
	return 0;
}

struct answers {
	atomic_int done;
	atomic_int wrong;
	atomic_int next[NUM_STREAMS]; /* what the stream's next answer begins with */
};

static struct answers answers;

/* Tensors begin with the number of their request, of which streams take turns. */
static void answered(const struct nvdla_pool_answer *answer, enum nvdla_status status,
		     const char *error, void *context)
{
	atomic_int *next = context;
	char tensor[TENSOR_BYTES];

	if (status != NVDLA_STATUS_OK || *error || nvdla_pool_answer_device(answer) > 1 ||
	    nvdla_pool_answer_get_output_tensor(answer, 0, tensor, TENSOR_BYTES) ||
	    tensor[0] != atomic_fetch_add(next, NUM_STREAMS))
		atomic_fetch_add(&answers.wrong, 1);
	atomic_fetch_add(&answers.done, 1);
}

struct use {
	size_t devices;
	uint64_t completed;
};

static void add_use(const struct nvdla_device_use *use, void *context)
{
	struct use *sum = context;

	sum->devices += use->size == sizeof(*use) && !strcmp(use->path, "embedded") && !use->lost;
	sum->completed += use->completed;
}

static int check_streams(struct nvdla_pool *pool, size_t network)
{
	struct nvdla_pool_request request = { .size = sizeof(request),
					      .network = network,
					      .num_inputs = 1 };
	char tensor[TENSOR_BYTES] = "";
	const void *inputs[] = { tensor };
	int i;

	request.inputs = inputs;
	atomic_init(&answers.done, 0);
	atomic_init(&answers.wrong, 0);
	for (i = 0; i < NUM_STREAMS; i++)
		atomic_init(&answers.next[i], i);
	for (i = 0; i < NUM_POOL_REQUESTS; i++) {
		tensor[0] = (char)i;
		request.stream = i % NUM_STREAMS;
		EXPECT(nvdla_pool_submit(pool, &request, answered,
					 &answers.next[i % NUM_STREAMS]) == NVDLA_STATUS_OK);
	}
	request.num_inputs = 2;
	EXPECT(nvdla_pool_submit(pool, &request, answered, NULL) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(strstr(nvdla_last_error(), "2 given, network 0 has 1"));
	return 0;
}

static int check_pool_run(struct nvdla_pool *pool, size_t network)
{
	const char elements[NUM_ELEMENTS] = "hello, pool";
	const struct nvdla_run_options counting = { .size = sizeof(counting), .statistics = 1 };
	struct nvdla_pool_request request = {
		.size = sizeof(request), .network = network, .num_inputs = 1, .options = &counting
	};
	struct nvdla_tensor_info info = { .size = sizeof(info) };
	struct nvdla_pool_answer *answer;
	struct nvdla_report *report;
	char tensor[TENSOR_BYTES], out[NUM_ELEMENTS];
	const void *inputs[] = { tensor };
	int line;

	EXPECT(nvdla_pool_num_inputs(pool, network) == 1);
	EXPECT(nvdla_pool_num_outputs(pool, network + 1) == 0);
	EXPECT(nvdla_pool_input_info(pool, network, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(info.tensor_bytes == TENSOR_BYTES && info.c == 3);
	EXPECT(nvdla_pool_output_info(pool, network, 1, &info) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_pool_pack_input(pool, network, 0, NVDLA_ORDER_NHWC, elements, NUM_ELEMENTS,
				     tensor, TENSOR_BYTES) == NVDLA_STATUS_OK);
	request.inputs = inputs;
	EXPECT(nvdla_pool_run(pool, &request, &answer) == NVDLA_STATUS_OK);
	EXPECT(nvdla_pool_answer_get_output(answer, 0, NVDLA_ORDER_NHWC, out, NUM_ELEMENTS) ==
	       NVDLA_STATUS_OK);
	EXPECT(!memcmp(out, elements, NUM_ELEMENTS));
	EXPECT(nvdla_pool_answer_get_output(answer, 1, NVDLA_ORDER_NHWC, out, NUM_ELEMENTS) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_pool_answer_get_report(answer, &report) == NVDLA_STATUS_OK);
	line = check_report(report, 1);
	nvdla_report_free(report);
	nvdla_pool_answer_free(answer);
	return line;
}

static int check_pool(struct nvdla_device *first, const void *loadable, size_t size)
{
	struct nvdla_pool_options options = { .size = sizeof(options), .slots = 1 };
	struct nvdla_device *second;
	struct nvdla_pool *pool;
	struct use use = { 0, 0 };
	size_t network;
	int line;

	EXPECT(nvdla_pool_create(NULL, 0, NULL, &pool) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_loop_create(&options.loop) == NVDLA_STATUS_OK);
	EXPECT(nvdla_pool_create(&first, 1, &options, &pool) == NVDLA_STATUS_OK);
	nvdla_loop_free(options.loop);
	EXPECT(nvdla_pool_add_network(pool, loadable, size, &network) == NVDLA_STATUS_OK);
	EXPECT(nvdla_device_open("embedded", &second) == NVDLA_STATUS_OK);
	EXPECT(nvdla_pool_add_device(pool, second) == NVDLA_STATUS_OK);
	nvdla_device_free(second);
	line = check_streams(pool, network);
	/* Its answer comes after theirs if all of them are done by then. */
	if (!line)
		line = check_pool_run(pool, network);
	while (!line && atomic_load(&answers.done) < NUM_POOL_REQUESTS)
		uv_sleep(1);
	if (line)
		return line;
	EXPECT(!atomic_load(&answers.wrong));
	EXPECT(nvdla_pool_use(pool, add_use, &use) == NVDLA_STATUS_OK);
	EXPECT(use.devices == 2 && use.completed == NUM_POOL_REQUESTS + 1);
	nvdla_pool_free(pool);
	return 0;
}

static void note(const char *path, int present, void *context)
{
	atomic_int *events = context;

	(void)path;
	atomic_fetch_add(events, present ? 1 : 1000);
}

/* Those there are come first; what comes and goes is tested of the C++ class. */
static int check_watch(void)
{
	struct nvdla_watch *watch;
	struct nvdla_loop *loop;
	atomic_int events;

	atomic_init(&events, 0);
	EXPECT(nvdla_watch_create(NULL, NULL, NULL, &watch) == NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT(nvdla_loop_create(&loop) == NVDLA_STATUS_OK);
	EXPECT(nvdla_watch_create(loop, note, &events, &watch) == NVDLA_STATUS_OK);
	nvdla_watch_free(watch);
	nvdla_loop_free(loop);
	EXPECT(atomic_load(&events) < 1000);
	return 0;
}

static void keep_message(enum nvdla_log_level level, const char *message, void *context)
{
	if (level == NVDLA_LOG_INFO)
		strncat(context, message, 200);
}

static int check_log(void)
{
	char text[256] = "";
	struct nvdla_open_options options = { .size = sizeof(options),
					      .log = keep_message,
					      .log_context = text };
	struct nvdla_device *device;

	EXPECT(nvdla_device_open_with("embedded", &options, &device) == NVDLA_STATUS_OK);
	EXPECT(strstr(text, "open device: embedded: core "));
	nvdla_device_free(device);
	options.size = 0;
	EXPECT(nvdla_device_open_with("embedded", &options, &device) ==
	       NVDLA_STATUS_INVALID_ARGUMENT);
	return 0;
}

int c_api_model_order(const void *loadable, size_t size)
{
	const char pixels[NUM_ELEMENTS] = { 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11 };
	struct nvdla_tensor_info info = { .size = sizeof(info) };
	struct nvdla_device *device;
	struct nvdla_network *network;
	struct nvdla_pool *pool;
	char tensor[TENSOR_BYTES];
	size_t added;
	int line;

	EXPECT(nvdla_device_open("embedded", &device) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_load(device, loadable, size, &network) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_input_info(network, 0, &info) == NVDLA_STATUS_OK);
	EXPECT(info.order == NVDLA_ORDER_NHWC && info.rank == 3);
	EXPECT(info.shape[0] == 1 && info.shape[1] == 4 && info.shape[2] == 3);
	nvdla_network_free(network);
	line = check_order(device, loadable, size, NVDLA_ORDER_MODEL);
	EXPECT(nvdla_pool_create(&device, 1, NULL, &pool) == NVDLA_STATUS_OK);
	EXPECT(nvdla_pool_add_network(pool, loadable, size, &added) == NVDLA_STATUS_OK);
	EXPECT(nvdla_pool_pack_input(pool, added, 0, NVDLA_ORDER_MODEL, pixels, NUM_ELEMENTS,
				     tensor, TENSOR_BYTES) == NVDLA_STATUS_OK);
	EXPECT(!memcmp(tensor, pixels, 3) && !memcmp(tensor + 32, pixels + 3, 3));
	nvdla_pool_free(pool);
	nvdla_device_free(device);
	return line;
}

int c_api_runs(const void *loadable, size_t size)
{
	struct nvdla_device *device;
	struct nvdla_network *network;
	int line;

	EXPECT(nvdla_device_open("embedded", &device) == NVDLA_STATUS_OK);
	EXPECT(nvdla_network_load(device, loadable, size, &network) == NVDLA_STATUS_OK);
	line = check_reports(network);
	if (!line)
		line = check_order(device, loadable, size, NVDLA_ORDER_NHWC);
	if (!line)
		line = check_own_loop(device, loadable, size);
	if (!line)
		line = check_pool(device, loadable, size);
	if (!line)
		line = check_watch();
	if (!line)
		line = check_log();
	nvdla_network_free(network);
	nvdla_device_free(device);
	return line;
}
