/* SPDX-License-Identifier: MIT */
/*
 * Every function of the C interface while the host's memory runs out, at each of its allocations.
 */
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>
#include <nvdla/image.h>
#include <nvdla/loadable_json.h>
#include <nvdla/network.h>
#include <nvdla/nvdla.h>
#include <nvdla/task.h>
#include <unistd.h>
#include <uv.h>

#include "places.h"
#include "test_support.h"

namespace
{

/* Which allocations fail: of one thread, or of all. */
enum class Who { Caller, Everybody };

struct Plan {
	std::atomic<bool> armed = false;
	std::atomic<uint64_t> left = 0; /* allocations until the first that fails */
	std::atomic<uint64_t> failed = 0;
	std::atomic<bool> everybody = false;
	std::atomic<bool> lasting = false; /* all that follow fail as well */
};

Plan plan;
thread_local bool isCaller = false;

bool fails()
{
	if (!plan.armed || (!plan.everybody && !isCaller))
		return false;
	const uint64_t before = plan.left.load();
	if (before > 1) {
		plan.left--;
		return false;
	}
	if (before == 0 && !plan.lasting)
		return false;
	plan.left = 0;
	plan.failed++;
	return true;
}

void *allocate(size_t size, size_t alignment)
{
	if (fails())
		return nullptr;
	if (alignment <= alignof(std::max_align_t))
		return std::malloc(size ? size : 1);
	return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void *allocateOrThrow(size_t size, size_t alignment)
{
	if (void *memory = allocate(size, alignment))
		return memory;
	throw std::bad_alloc();
}

} /* namespace */

void *operator new(size_t size)
{
	return allocateOrThrow(size, 1);
}

void *operator new(size_t size, std::align_val_t alignment)
{
	return allocateOrThrow(size, static_cast<size_t>(alignment));
}

void *operator new(size_t size, const std::nothrow_t &) noexcept
{
	return allocate(size, 1);
}

void operator delete(void *memory) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, size_t) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, std::align_val_t) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, size_t, std::align_val_t) noexcept
{
	std::free(memory);
}

namespace nvdla::no_memory_test
{

namespace
{

constexpr uint32_t channels = 32;
constexpr uint32_t width = 4;
constexpr size_t tensorBytes = channels * width;

/* Fails the n-th allocation of what happens while it lives. */
class Shortage
{
public:
	Shortage(uint64_t n, Who who, bool lasting)
	{
		plan.left = n;
		plan.failed = 0;
		plan.everybody = who == Who::Everybody;
		plan.lasting = lasting;
		isCaller = true;
		plan.armed = true;
	}
	~Shortage() { end(); }

	/* Return: something failed */
	bool end()
	{
		plan.armed = false;
		isCaller = false;
		return plan.failed > 0;
	}
};

/* Objects that the functions under test get; each test has its own. */
struct Objects {
	std::vector<std::byte> loadable = test::passLoadable(channels, width).write().value();
	std::vector<std::byte> model;
	std::string file = testing::TempDir() + "no-memory.nvdla";
	std::string modelFile = test::sourceRoot() + "/umd/examples/digits/digits.onnx";
	nvdla_device *device = nullptr;
	nvdla_network *network = nullptr;
	nvdla_request *request = nullptr;
	nvdla_pool *pool = nullptr;
	nvdla_buffer *buffer = nullptr;
	nvdla_model *compiled = nullptr;
	nvdla_report *report = nullptr;
	nvdla_pool_answer *answer = nullptr;
	std::vector<std::byte> tensor = std::vector<std::byte>(tensorBytes);
	std::vector<float> numbers = std::vector<float>(tensorBytes);
	std::vector<uint32_t> shape; /* of the output */
	const void *input = tensor.data();
	nvdla_pool_request work = { sizeof(work), 0, &input, 1, 0, nullptr };
	nvdla_run_options quick = { sizeof(quick), 200, 0, 0, 0 };

	Objects()
	{
		std::ofstream(file).write(reinterpret_cast<const char *>(loadable.data()),
					  static_cast<std::streamsize>(loadable.size()));
		std::ifstream from(modelFile, std::ios::binary);
		std::stringstream bytes;
		bytes << from.rdbuf();
		model = test::bytesOf(std::vector<char>(std::istreambuf_iterator<char>(bytes),
							std::istreambuf_iterator<char>()));
		good(nvdla_device_open("embedded", &device));
		good(nvdla_network_load(device, loadable.data(), loadable.size(), &network));
		nvdla_tensor_info output = { .size = sizeof(output) };
		good(nvdla_network_output_info(network, 0, &output));
		shape.resize(output.rank);
		good(nvdla_request_create(network, &request));
		good(nvdla_request_run(request, nullptr));
		good(nvdla_request_get_report(request, &report));
		good(nvdla_pool_create(&device, 1, nullptr, &pool));
		size_t number;
		good(nvdla_pool_add_network(pool, loadable.data(), loadable.size(), &number));
		good(nvdla_pool_run(pool, &work, &answer));
		good(nvdla_buffer_create(device, 4096, &buffer));
		good(nvdla_compile(model.data(), model.size(), nullptr, &compiled));
	}

	~Objects()
	{
		nvdla_model_free(compiled);
		nvdla_buffer_free(buffer);
		nvdla_pool_answer_free(answer);
		nvdla_pool_free(pool);
		nvdla_report_free(report);
		nvdla_request_free(request);
		nvdla_network_free(network);
		nvdla_device_free(device);
		unlink(file.c_str());
	}

	static void good(nvdla_status status)
	{
		ASSERT_EQ(status, NVDLA_STATUS_OK) << nvdla_last_error();
	}
};

/* A call, and what takes back what it made. */
struct Call {
	std::function<nvdla_status()> make;
	std::function<void()> undo = [] {};
	std::function<void()> before = [] {};
};
using Calls = std::map<std::string, Call>;

/* One that returns no status: it has to come back. */
std::function<nvdla_status()> plainly(std::function<void()> function)
{
	return [function = std::move(function)] {
		function();
		return NVDLA_STATUS_OK;
	};
}

/* One that makes an object. */
template<typename T>
Call making(nvdla_status (*make)(Objects &, T **), void (*release)(T *), Objects &objects)
{
	auto made = std::make_shared<T *>(nullptr);

	return { [=, &objects] { return make(objects, made.get()); },
		 [=] { release(std::exchange(*made, nullptr)); } };
}

/* One that frees what is made before, when there still is memory. */
template<typename T>
Call freeing(nvdla_status (*make)(Objects &, T **), void (*release)(T *), Objects &objects)
{
	auto made = std::make_shared<T *>(nullptr);

	return { plainly([=] { release(*made); }), [] {},
		 [=, &objects] { Objects::good(make(objects, made.get())); } };
}

/* One that wants to know of a run, whatever became of the last one. */
Call behindARun(Call call, Objects &objects)
{
	auto before = std::move(call.before);

	call.before = [&objects, before] {
		Objects::good(nvdla_request_run(objects.request, nullptr));
		before();
	};
	return call;
}

nvdla_status makeDevice(Objects &, nvdla_device **to)
{
	return nvdla_device_open("embedded", to);
}

nvdla_status makeNetwork(Objects &on, nvdla_network **to)
{
	return nvdla_network_load(on.device, on.loadable.data(), on.loadable.size(), to);
}

nvdla_status makeRequest(Objects &on, nvdla_request **to)
{
	return nvdla_request_create(on.network, to);
}

nvdla_status makePool(Objects &on, nvdla_pool **to)
{
	return nvdla_pool_create(&on.device, 1, nullptr, to);
}

nvdla_status makeBuffer(Objects &on, nvdla_buffer **to)
{
	return nvdla_buffer_create(on.device, 4096, to);
}

nvdla_status makeModel(Objects &on, nvdla_model **to)
{
	return nvdla_compile(on.model.data(), on.model.size(), nullptr, to);
}

nvdla_status makeReport(Objects &on, nvdla_report **to)
{
	return nvdla_request_get_report(on.request, to);
}

nvdla_status makeAnswer(Objects &on, nvdla_pool_answer **to)
{
	return nvdla_pool_run(on.pool, &on.work, to);
}

nvdla_status makeLoop(Objects &, nvdla_loop **to)
{
	return nvdla_loop_create(to);
}

nvdla_status makeWatch(Objects &, nvdla_watch **to)
{
	return nvdla_watch_create(
		nullptr, [](const char *, int, void *) {}, nullptr, to);
}

Calls objectCalls(Objects &on)
{
	return {
		{ "nvdla_device_open", making(makeDevice, nvdla_device_free, on) },
		{ "nvdla_device_open_with",
		  making<nvdla_device>(
			  [](Objects &, nvdla_device **to) {
				  const nvdla_open_options options = {
					  sizeof(options),
					  [](nvdla_log_level, const char *, void *) {}, nullptr
				  };
				  return nvdla_device_open_with("embedded", &options, to);
			  },
			  nvdla_device_free, on) },
		{ "nvdla_device_free", freeing(makeDevice, nvdla_device_free, on) },
		{ "nvdla_network_load", making(makeNetwork, nvdla_network_free, on) },
		{ "nvdla_network_load_with",
		  making<nvdla_network>(
			  [](Objects &of, nvdla_network **to) {
				  const nvdla_load_options options = { sizeof(options), 2, 8,
								       nullptr, 0 };
				  return nvdla_network_load_with(of.device, of.loadable.data(),
								 of.loadable.size(), &options, to);
			  },
			  nvdla_network_free, on) },
		{ "nvdla_network_load_file",
		  making<nvdla_network>(
			  [](Objects &of, nvdla_network **to) {
				  return nvdla_network_load_file(of.device, of.file.c_str(), to);
			  },
			  nvdla_network_free, on) },
		{ "nvdla_network_free", freeing(makeNetwork, nvdla_network_free, on) },
		{ "nvdla_request_create", making(makeRequest, nvdla_request_free, on) },
		{ "nvdla_request_free", freeing(makeRequest, nvdla_request_free, on) },
		{ "nvdla_pool_create", making(makePool, nvdla_pool_free, on) },
		{ "nvdla_pool_free", freeing(makePool, nvdla_pool_free, on) },
		{ "nvdla_pool_run", making(makeAnswer, nvdla_pool_answer_free, on) },
		{ "nvdla_pool_answer_free", freeing(makeAnswer, nvdla_pool_answer_free, on) },
		{ "nvdla_buffer_create", making(makeBuffer, nvdla_buffer_free, on) },
		{ "nvdla_buffer_free", freeing(makeBuffer, nvdla_buffer_free, on) },
		{ "nvdla_compile", making(makeModel, nvdla_model_free, on) },
		{ "nvdla_compile_file", making<nvdla_model>(
						[](Objects &of, nvdla_model **to) {
							return nvdla_compile_file(
								of.modelFile.c_str(), nullptr, to);
						},
						nvdla_model_free, on) },
		{ "nvdla_model_free", freeing(makeModel, nvdla_model_free, on) },
		{ "nvdla_request_get_report",
		  behindARun(making(makeReport, nvdla_report_free, on), on) },
		{ "nvdla_pool_answer_get_report",
		  making<nvdla_report>(
			  [](Objects &of, nvdla_report **to) {
				  return nvdla_pool_answer_get_report(of.answer, to);
			  },
			  nvdla_report_free, on) },
		{ "nvdla_report_free", behindARun(freeing(makeReport, nvdla_report_free, on), on) },
		{ "nvdla_loop_create", making(makeLoop, nvdla_loop_free, on) },
		{ "nvdla_loop_free", freeing(makeLoop, nvdla_loop_free, on) },
		{ "nvdla_watch_create", making(makeWatch, nvdla_watch_free, on) },
		{ "nvdla_watch_free", freeing(makeWatch, nvdla_watch_free, on) },
	};
}

Calls tensorCalls(Objects &on)
{
	static nvdla_tensor_info tensor = { .size = sizeof(tensor) };
	static double scale = 0.5;
	static int32_t zero = 0;

	return {
		{ "nvdla_network_num_inputs",
		  { plainly([&] { nvdla_network_num_inputs(on.network); }) } },
		{ "nvdla_network_num_outputs",
		  { plainly([&] { nvdla_network_num_outputs(on.network); }) } },
		{ "nvdla_network_input_info",
		  { [&] { return nvdla_network_input_info(on.network, 0, &tensor); } } },
		{ "nvdla_network_output_info",
		  { [&] { return nvdla_network_output_info(on.network, 0, &tensor); } } },
		{ "nvdla_network_set_input_quantization", { [&] {
			  return nvdla_network_set_input_quantization(on.network, 0, &scale, &zero,
								      1);
		  } } },
		{ "nvdla_network_set_output_quantization", { [&] {
			  return nvdla_network_set_output_quantization(on.network, 0, &scale, &zero,
								       1);
		  } } },
		{ "nvdla_network_get_input_quantization",
		  { [&] {
			   return nvdla_network_get_input_quantization(on.network, 0, &scale, &zero,
								       1);
		   },
		    [] {},
		    [&] {
			    Objects::good(nvdla_network_set_input_quantization(on.network, 0,
									       &scale, &zero, 1));
		    } } },
		{ "nvdla_network_get_output_quantization",
		  { [&] {
			   return nvdla_network_get_output_quantization(on.network, 0, &scale,
									&zero, 1);
		   },
		    [] {},
		    [&] {
			    Objects::good(nvdla_network_set_output_quantization(on.network, 0,
										&scale, &zero, 1));
		    } } },
		{ "nvdla_request_set_input", { [&] {
			  return nvdla_request_set_input(on.request, 0, on.tensor.data(),
							 tensorBytes);
		  } } },
		{ "nvdla_request_set_input_float", { [&] {
			  return nvdla_request_set_input_float(on.request, 0, on.numbers.data(),
							       tensorBytes);
		  } } },
		{ "nvdla_request_set_input_tensor", { [&] {
			  return nvdla_request_set_input_tensor(on.request, 0, on.tensor.data(),
								tensorBytes);
		  } } },
		{ "nvdla_request_get_output", { [&] {
			  return nvdla_request_get_output(on.request, 0, on.tensor.data(),
							  tensorBytes);
		  } } },
		{ "nvdla_request_get_output_float", { [&] {
			  return nvdla_request_get_output_float(on.request, 0, on.numbers.data(),
								tensorBytes);
		  } } },
		{ "nvdla_request_get_output_tensor", { [&] {
			  return nvdla_request_get_output_tensor(on.request, 0, on.tensor.data(),
								 tensorBytes);
		  } } },
		{ "nvdla_request_get_output_shape", { [&] {
			  return nvdla_request_get_output_shape(on.request, 0, on.shape.data(),
								on.shape.size());
		  } } },
		{ "nvdla_request_bind_input",
		  { [&] { return nvdla_request_bind_input(on.request, 0, on.buffer, 0); },
		    [&] { Objects::good(nvdla_request_bind_input(on.request, 0, nullptr, 0)); } } },
		{ "nvdla_request_bind_output",
		  { [&] { return nvdla_request_bind_output(on.request, 0, on.buffer, 0); },
		    [&] {
			    Objects::good(nvdla_request_bind_output(on.request, 0, nullptr, 0));
		    } } },
	};
}

Calls otherCalls(Objects &on)
{
	static nvdla_device_info device = { .size = sizeof(device) };
	static nvdla_tensor_info tensor = { .size = sizeof(tensor) };
	static nvdla_report_info report = { .size = sizeof(report) };
	static nvdla_step_info step = { .size = sizeof(step) };
	static nvdla_operation_info operation = { .size = sizeof(operation) };
	static nvdla_layer_info layer = { .size = sizeof(layer) };
	static const void *data;
	static size_t size;
	static void *bytes;
	static int fd;
	static uv_loop_t uv;

	return {
		{ "nvdla_version", { plainly([] { nvdla_version(); }) } },
		{ "nvdla_last_error", { plainly([] { nvdla_last_error(); }) } },
		{ "nvdla_status_name", { plainly([] { nvdla_status_name(NVDLA_STATUS_BUSY); }) } },
		{ "nvdla_enumerate",
		  { [] { return nvdla_enumerate([](const char *, void *) {}, nullptr); } } },
		{ "nvdla_device_get_info",
		  { [&] { return nvdla_device_get_info(on.device, &device); } } },
		{ "nvdla_loop_attach", { [&] {
			  nvdla_loop *loop = nullptr;
			  uv_loop_init(&uv);
			  const nvdla_status status = nvdla_loop_attach(&uv, &loop);
			  nvdla_loop_free(loop);
			  uv_run(&uv, UV_RUN_DEFAULT);
			  return uv_loop_close(&uv) ? NVDLA_STATUS_BUSY : status;
		  } } },
		{ "nvdla_pool_add_device",
		  { [&] { return nvdla_pool_add_device(on.pool, on.device); } } },
		{ "nvdla_pool_add_network", { [&] {
			  return nvdla_pool_add_network(on.pool, on.loadable.data(),
							on.loadable.size(), &size);
		  } } },
		{ "nvdla_pool_num_inputs",
		  { plainly([&] { nvdla_pool_num_inputs(on.pool, 0); }) } },
		{ "nvdla_pool_num_outputs",
		  { plainly([&] { nvdla_pool_num_outputs(on.pool, 0); }) } },
		{ "nvdla_pool_input_info",
		  { [&] { return nvdla_pool_input_info(on.pool, 0, 0, &tensor); } } },
		{ "nvdla_pool_output_info",
		  { [&] { return nvdla_pool_output_info(on.pool, 0, 0, &tensor); } } },
		{ "nvdla_pool_pack_input", { [&] {
			  return nvdla_pool_pack_input(on.pool, 0, 0, NVDLA_ORDER_NHWC,
						       on.tensor.data(), tensorBytes,
						       on.tensor.data(), tensorBytes);
		  } } },
		{ "nvdla_pool_answer_device",
		  { plainly([&] { nvdla_pool_answer_device(on.answer); }) } },
		{ "nvdla_pool_answer_get_output", { [&] {
			  return nvdla_pool_answer_get_output(on.answer, 0, NVDLA_ORDER_NCHW,
							      on.tensor.data(), tensorBytes);
		  } } },
		{ "nvdla_pool_answer_get_output_tensor", { [&] {
			  return nvdla_pool_answer_get_output_tensor(on.answer, 0, on.tensor.data(),
								     tensorBytes);
		  } } },
		{ "nvdla_pool_answer_get_output_shape", { [&] {
			  return nvdla_pool_answer_get_output_shape(on.answer, 0, on.shape.data(),
								    on.shape.size());
		  } } },
		{ "nvdla_pool_use", { [&] {
			  return nvdla_pool_use(
				  on.pool, [](const nvdla_device_use *, void *) {}, nullptr);
		  } } },
		{ "nvdla_buffer_size", { plainly([&] { nvdla_buffer_size(on.buffer); }) } },
		{ "nvdla_buffer_export",
		  { [&] { return nvdla_buffer_export(on.buffer, &fd); }, [] { close(fd); } } },
		{ "nvdla_buffer_import",
		  { [&] {
			   nvdla_buffer *imported = nullptr;
			   const nvdla_status status =
				   nvdla_buffer_import(on.device, fd, &imported);
			   nvdla_buffer_free(imported);
			   return status;
		   },
		    [] { close(fd); },
		    [&] { Objects::good(nvdla_buffer_export(on.buffer, &fd)); } } },
		{ "nvdla_buffer_begin_access",
		  { [&] { return nvdla_buffer_begin_access(on.buffer, 100, &bytes); },
		    [&] { nvdla_buffer_end_access(on.buffer); } } },
		{ "nvdla_buffer_end_access",
		  { plainly([&] { nvdla_buffer_end_access(on.buffer); }), [] {},
		    [&] { Objects::good(nvdla_buffer_begin_access(on.buffer, 100, &bytes)); } } },
		{ "nvdla_model_get_data",
		  { [&] { return nvdla_model_get_data(on.compiled, &data, &size); } } },
		{ "nvdla_model_num_layers",
		  { plainly([&] { nvdla_model_num_layers(on.compiled); }) } },
		{ "nvdla_model_layer",
		  { [&] { return nvdla_model_layer(on.compiled, 0, &layer); } } },
		{ "nvdla_report_get_info",
		  { [&] { return nvdla_report_get_info(on.report, &report); } } },
		{ "nvdla_report_get_step",
		  { [&] { return nvdla_report_get_step(on.report, 0, &step); } } },
		{ "nvdla_report_get_operation",
		  { [&] { return nvdla_report_get_operation(on.report, 0, 0, &operation); } } },
	};
}

/* A run, by the caller or by the loop, and a wait for its end when there is memory again. */
Calls runCalls(Objects &on)
{
	static std::atomic<unsigned> answers;
	const auto settle = [&on] { static_cast<void>(nvdla_request_wait(on.request, -1)); };

	return {
		{ "nvdla_request_run",
		  { [&] { return nvdla_request_run(on.request, &on.quick); } } },
		{ "nvdla_request_submit",
		  { [&] {
			   return nvdla_request_submit(
				   on.request, &on.quick,
				   [](nvdla_request *, nvdla_status, const char *, void *) {},
				   nullptr);
		   },
		    settle } },
		{ "nvdla_request_wait",
		  { [&] { return nvdla_request_wait(on.request, -1); }, settle,
		    [&on, settle] {
			    settle();
			    Objects::good(
				    nvdla_request_submit(on.request, &on.quick, nullptr, nullptr));
		    } } },
		{ "nvdla_request_cancel",
		  { plainly([&] { nvdla_request_cancel(on.request); }), settle,
		    [&on, settle] {
			    settle();
			    Objects::good(
				    nvdla_request_submit(on.request, &on.quick, nullptr, nullptr));
		    } } },
		{ "nvdla_pool_submit",
		  { [&] {
			   const auto count = [](const nvdla_pool_answer *, nvdla_status,
						 const char *, void *) { answers++; };
			   answers = 0;
			   return nvdla_pool_submit(on.pool, &on.work, count, nullptr);
		   },
		    /* It was promised, whatever memory there is. */
		    [] {
			    while (!answers)
				    std::this_thread::yield();
		    } } },
	};
}

Calls callsOf(Objects &on)
{
	Calls all = objectCalls(on);

	all.merge(tensorCalls(on));
	all.merge(otherCalls(on));
	all.merge(runCalls(on));
	return all;
}

/* The next allocation to fail: each at first, then ever fewer of thousands. */
uint64_t next(uint64_t n)
{
	return n + 1 + n / 60;
}

void failAtEach(const std::string &name, const Call &call, Who who, bool lasting)
{
	/* An operation of the device model that has no memory hangs. */
	const bool runs = name.ends_with("_run") || name.ends_with("_wait");
	SCOPED_TRACE(name);
	for (uint64_t n = 1;; n = next(n)) {
		SCOPED_TRACE(n);
		call.before();
		Shortage shortage(n, who, lasting);
		const nvdla_status status = call.make();
		const bool failed = shortage.end();
		if (status == NVDLA_STATUS_OK)
			call.undo();
		else
			ASSERT_TRUE(status == NVDLA_STATUS_NO_MEMORY ||
				    (runs && status == NVDLA_STATUS_TIMEOUT))
				<< nvdla_last_error();
		ASSERT_TRUE(status == NVDLA_STATUS_OK || *nvdla_last_error());
		if (!failed) {
			ASSERT_EQ(status, NVDLA_STATUS_OK) << nvdla_last_error();
			return;
		}
	}
}

} /* namespace */

TEST(NoMemory, EveryFunctionOfTheInterfaceIsTried)
{
	Objects objects;
	std::set<std::string> tried, listed;
	std::ifstream list(test::sourceRoot() + "/umd/install/libnvdla.functions");

	for (const auto &[name, call] : callsOf(objects))
		tried.insert(name);
	for (std::string line; std::getline(list, line);) {
		if (line.starts_with("nvdla_"))
			listed.insert(line.substr(0, line.find(' ')));
	}
	EXPECT_FALSE(listed.empty());
	EXPECT_EQ(tried, listed);
}

TEST(NoMemory, OneAllocationOfTheCallerFails)
{
	Objects objects;

	for (const auto &[name, call] : callsOf(objects))
		failAtEach(name, call, Who::Caller, false);
}

TEST(NoMemory, AllAllocationsOfTheCallerFailFromOneOn)
{
	Objects objects;

	for (const auto &[name, call] : callsOf(objects))
		failAtEach(name, call, Who::Caller, true);
}

/* In the loop's thread, the thread pool's and the device's, where an operation then hangs. */
TEST(NoMemory, AnAllocationOfAnyThreadFails)
{
	Objects objects;

	for (const auto &[name, call] : runCalls(objects))
		failAtEach(name, call, Who::Everybody, false);
}

namespace
{

template<typename T>
std::optional<ErrorCode> codeOf(const Result<T> &result)
{
	return result ? std::nullopt : std::optional(result.error().code);
}

using Function = std::function<std::optional<ErrorCode>()>;

/*
 * Those that are behind no function of the C interface, and those with the most to do. The text
 * form is not among them: the library for JSON asserts that it is never without memory.
 */
std::vector<std::pair<const char *, Function>> entryPoints(Objects &on)
{
	static const Loadable loadable = Loadable::read(on.loadable).value();
	static const Device device = Device::open("embedded").value();
	static const TensorDesc desc =
		TensorDesc::packedFeature("x", DataType::Int8, channels, 1, width);
	static const std::string picture = test::sourceRoot() + "/umd/examples/digits/seven.pgm";

	return {
		{ "compileFile", [&] { return codeOf(compileFile(on.modelFile)); } },
		{ "compileModel", [&] { return codeOf(compileModel(on.model)); } },
		{ "modelInputs", [&] { return codeOf(modelInputs(on.model)); } },
		{ "supportedOperators", [&] { return codeOf(supportedOperators(on.model)); } },
		{ "readFile", [&] { return codeOf(Loadable::readFile(on.file)); } },
		{ "readLoadable", [&] { return codeOf(readLoadable(on.file)); } },
		{ "write", [] { return codeOf(loadable.write()); } },
		{ "inputs", [] { return codeOf(loadable.inputs()); } },
		{ "tasksInOrder", [] { return codeOf(tasksInOrder(loadable)); } },
		{ "networkParts", [] { return codeOf(networkParts(loadable)); } },
		{ "Network::load", [] { return codeOf(Network::load(device, loadable)); } },
		{ "createContext", [] { return codeOf(device.createContext(Priority::Low)); } },
		{ "createJob", [] { return codeOf(device.createJob()); } },
		{ "allocateOnChip", [] { return codeOf(device.allocateOnChip(64)); } },
		{ "packFloat", [&] { return codeOf(packFloat(desc, on.numbers, on.tensor)); } },
		{ "unpackFloat", [&] { return codeOf(unpackFloat(desc, on.tensor)); } },
		{ "readImage", [] { return codeOf(readImage(picture)); } },
	};
}

} /* namespace */

TEST(NoMemory, EntryPointsInCpp)
{
	Objects objects;

	for (const bool lasting : { false, true }) {
		for (const auto &[name, function] : entryPoints(objects)) {
			SCOPED_TRACE(name);
			bool failed = true;
			for (uint64_t n = 1; failed; n = next(n)) {
				Shortage shortage(n, Who::Caller, lasting);
				const auto code = function();
				failed = shortage.end();
				if (code) {
					ASSERT_EQ(*code, ErrorCode::NoMemory) << n;
				}
				ASSERT_TRUE(failed || !code);
			}
		}
	}
}

} /* namespace nvdla::no_memory_test */
