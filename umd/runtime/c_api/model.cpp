/* SPDX-License-Identifier: MIT */
#include <nvdla/compiler.h>

#include "base/io/file.h"
#include "loadable/half_use.h"
#include "objects.h"

using namespace nvdla;

using c_api::bytesAt;
using c_api::failure;
using c_api::missing;
using c_api::readSized;
using c_api::writeSized;

static_assert(NVDLA_RANGE_POWERS_OF_TWO == static_cast<int>(RangeMethod::PowersOfTwo));
static_assert(NVDLA_FOLD_FLOATS == static_cast<int>(FoldSums::Floats) &&
	      NVDLA_FOLD_ALWAYS == static_cast<int>(FoldSums::Always));

struct nvdla_model {
	CompiledModel model;
	std::vector<std::byte> data;
};

namespace
{

constexpr const char *compiling = "compile model";

tl::unexpected<Error> wrong(const char *field, std::string why)
{
	return fail(ErrorCode::InvalidArgument, compiling, field, std::move(why));
}

using Samples = std::vector<std::vector<std::vector<float>>>;

/* Splits the numbers of all examples into examples, and each example into its inputs. */
Result<Samples> samplesOf(std::span<const float> numbers, const std::vector<ModelInput> &inputs)
{
	size_t each = 0;
	for (const ModelInput &input : inputs)
		each += size_t{ input.c } * input.h * input.w;
	if (each == 0 || numbers.empty() || numbers.size() % each)
		return wrong("num_sample_numbers",
			     fmt::format("is {}, no multiple of the {} numbers of all inputs",
					 numbers.size(), each));
	Samples samples(numbers.size() / each);
	for (auto &sample : samples) {
		for (const ModelInput &input : inputs) {
			const auto part = numbers.first(size_t{ input.c } * input.h * input.w);
			sample.emplace_back(part.begin(), part.end());
			numbers = numbers.subspan(part.size());
		}
	}
	return samples;
}

/*
 * Called if there are no samples: refuses options that have an effect only with samples. The
 * precision is refused only if there is no calibration table either.
 */
Result<void> refuseUnused(const nvdla_compile_options &given)
{
	const struct {
		const char *field;
		bool given;
	} ofCalibration[] = {
		{ "num_sample_numbers", given.num_sample_numbers != 0 },
		{ "percentile", given.percentile != 0 },
		{ "ranges", given.ranges != 0 },
		{ "precision", given.precision != 0 && given.precision != NVDLA_DATA_HALF &&
				       !given.calibration_table },
		{ "keep_bias", given.keep_bias != 0 },
	};

	for (const auto &option : ofCalibration) {
		if (option.given)
			return wrong(option.field, "has no effect without samples");
	}
	return {};
}

Result<Calibration> calibrationOf(const nvdla_compile_options &given,
				  std::span<const std::byte> model,
				  std::span<const InputShape> shapes)
{
	Calibration calibration = { .correctBias = given.keep_bias == 0 };

	if (given.calibration_table && (given.ranges || given.percentile != 0))
		return wrong(given.ranges ? "ranges" : "percentile",
			     "has no effect without samples alone");
	if (given.percentile != 0 && given.ranges != NVDLA_RANGE_PERCENTILE)
		return wrong("percentile", "has no effect without NVDLA_RANGE_PERCENTILE");
	if (given.ranges > NVDLA_RANGE_POWERS_OF_TWO)
		return wrong("ranges", fmt::format("is {}, not one of enum "
						   "nvdla_range_method",
						   given.ranges));
	if (given.precision == NVDLA_DATA_HALF)
		return wrong("precision", "NVDLA_DATA_HALF excludes samples and calibration_table, "
					  "which make integers");
	if (given.precision && given.precision != NVDLA_DATA_INT8 &&
	    given.precision != NVDLA_DATA_INT16)
		return wrong("precision",
			     fmt::format("is {}; there is NVDLA_DATA_HALF, _INT16 and _INT8",
					 given.precision));
	if (given.calibration_table) {
		auto table = readCalibrationTable(given.calibration_table);
		if (!table)
			return forward(table);
		calibration.table = std::move(*table);
	}
	if (given.samples) {
		auto inputs = modelInputs(model, shapes);
		if (!inputs)
			return forward(inputs);
		auto samples = samplesOf({ given.samples, given.num_sample_numbers }, *inputs);
		if (!samples)
			return forward(samples);
		calibration.samples = std::move(*samples);
	}
	calibration.method = static_cast<RangeMethod>(given.ranges);
	if (given.percentile != 0)
		calibration.percentile = given.percentile;
	if (given.precision)
		calibration.type = static_cast<DataType>(given.precision);
	return calibration;
}

Result<CompileOptions> optionsOf(const nvdla_compile_options &given,
				 std::span<const std::byte> model)
{
	CompileOptions options = { .everyTensor = given.every_tensor != 0,
				   .sramBytes = given.sram_size,
				   .foldSums = static_cast<FoldSums>(given.fold_sums),
				   .host = static_cast<HostUse>(given.host) };

	auto strategy = parseStrategy(given.strategy ? given.strategy : "");
	if (!strategy)
		return forward(strategy);
	options.strategy = std::move(*strategy);
	if (given.target) {
		auto core = findCoreVariant(given.target);
		if (!core)
			return forward(core);
		options.core = *core;
	}
	if (given.num_shapes && !given.shapes)
		return wrong("shapes", "is NULL");
	for (size_t i = 0; i < given.num_shapes; i++) {
		auto shape = parseInputShape(given.shapes[i] ? given.shapes[i] : "");
		if (!shape)
			return forward(shape);
		options.shapes.push_back(std::move(*shape));
	}
	if (given.fold_sums > NVDLA_FOLD_ALWAYS)
		return wrong("fold_sums", fmt::format("is {}, not one of enum nvdla_fold_sums",
						      given.fold_sums));
	if (given.host > NVDLA_HOST_NEVER)
		return wrong("host",
			     fmt::format("is {}, not one of enum nvdla_host_use", given.host));
	if (!given.samples) {
		if (auto unused = refuseUnused(given); !unused)
			return forward(unused);
	}
	if (!given.samples && !given.calibration_table)
		return options;
	auto calibration = calibrationOf(given, model, options.shapes);
	if (!calibration)
		return forward(calibration);
	options.calibration = std::move(*calibration);
	return options;
}

Result<nvdla_model> compile(std::span<const std::byte> bytes, const nvdla_compile_options &given)
{
	auto options = optionsOf(given, bytes);
	if (!options)
		return forward(options);
	auto compiled = compileModel(bytes, *options);
	if (!compiled)
		return forward(compiled);
	if (given.precision == NVDLA_DATA_HALF) {
		if (auto floats = checkComputesHalf(compiled->loadable); !floats)
			return forward(floats);
	}
	auto written = compiled->loadable.write();
	if (!written)
		return forward(written);
	return nvdla_model{ std::move(*compiled), std::move(*written) };
}

nvdla_status give(Result<nvdla_model> compiled, nvdla_model **model)
{
	if (!compiled)
		return failure(compiled.error());
	*model = new nvdla_model(std::move(*compiled));
	return NVDLA_STATUS_OK;
}

} /* namespace */

enum nvdla_status nvdla_compile(const void *data, size_t size,
				const struct nvdla_compile_options *options,
				struct nvdla_model **model)
{
	return c_api::guardedCall("nvdla_compile", [&]() -> nvdla_status {
		nvdla_compile_options given = {};

		if (!data || !model)
			return missing(compiling, data ? "model" : "data");
		if (const auto read = readSized(compiling, options, given))
			return read;
		return give(compile(bytesAt(data, size), given), model);
	});
}

enum nvdla_status nvdla_compile_file(const char *path, const struct nvdla_compile_options *options,
				     struct nvdla_model **model)
{
	return c_api::guardedCall("nvdla_compile_file", [&]() -> nvdla_status {
		nvdla_compile_options given = {};

		if (!path || !model)
			return missing(compiling, path ? "model" : "path");
		if (const auto read = readSized(compiling, options, given))
			return read;
		const auto bytes = readModelFile(path);
		if (!bytes)
			return failure(bytes.error());
		auto compiled = compile(*bytes, given);
		if (!compiled)
			compiled.error().where =
				fmt::format("{}: {}", path, compiled.error().where);
		return give(std::move(compiled), model);
	});
}

void nvdla_model_free(struct nvdla_model *model)
{
	delete model;
}

enum nvdla_status nvdla_model_get_data(const struct nvdla_model *model, const void **data,
				       size_t *size)
{
	return c_api::guardedCall("nvdla_model_get_data", [&]() -> nvdla_status {
		if (!model || !data || !size)
			return missing("get loadable", "model, data or size");
		*data = model->data.data();
		*size = model->data.size();
		return NVDLA_STATUS_OK;
	});
}

size_t nvdla_model_num_layers(const struct nvdla_model *model)
{
	return model ? model->model.report.layers.size() : 0;
}

enum nvdla_status nvdla_model_layer(const struct nvdla_model *model, size_t index,
				    struct nvdla_layer_info *info)
{
	return c_api::guardedCall("nvdla_model_layer", [&]() -> nvdla_status {
		if (!model || !info)
			return missing("get layer", model ? "info" : "model");
		const std::vector<LayerReport> &layers = model->model.report.layers;
		if (index >= layers.size())
			return failure(
				{ ErrorCode::InvalidArgument, "get layer", "index",
				  fmt::format("is {}, the model has {}", index, layers.size()) });
		const LayerReport &layer = layers[index];
		nvdla_layer_info said = { .size = sizeof(said),
					  .name = layer.name.c_str(),
					  .type = layer.type.c_str(),
					  .cpu = layer.cpu.c_str(),
					  .num_operations = layer.operations.size(),
					  .has_error = layer.error.has_value(),
					  .host = layer.host.c_str() };
		if (layer.error) {
			said.error_ratio = layer.error->ratio;
			said.own_error_ratio = layer.error->ownRatio;
			said.largest_error = layer.error->largest;
		}
		return writeSized("get layer", said, info);
	});
}
