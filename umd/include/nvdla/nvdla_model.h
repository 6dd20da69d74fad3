/* SPDX-License-Identifier: MIT */
/*
 * The compiler for C and for bindings of other languages: functions about models, for use with
 * nvdla.h.
 */
#ifndef NVDLA_NVDLA_MODEL_H
#define NVDLA_NVDLA_MODEL_H

#include <nvdla/nvdla.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

struct nvdla_model;

/** Method of choosing the range of a tensor's numbers, as nvdla::RangeMethod */
enum nvdla_range_method {
	NVDLA_RANGE_MIN_MAX = 0,
	NVDLA_RANGE_PERCENTILE = 1,
	NVDLA_RANGE_ENTROPY = 2,
	NVDLA_RANGE_POWERS_OF_TWO = 3,
};

/** Additions that are fused with the convolution before them, as nvdla::FoldSums */
enum nvdla_fold_sums {
	NVDLA_FOLD_FLOATS = 0,
	NVDLA_FOLD_NEVER = 1,
	NVDLA_FOLD_ALWAYS = 2,
};

/** Use of a library of the host for operators that the core lacks, as nvdla::HostUse */
enum nvdla_host_use {
	NVDLA_HOST_AUTO = 0,
	NVDLA_HOST_NEVER = 1,
};

/** Options of compiling a model, as nvdla::CompileOptions */
struct nvdla_compile_options {
	size_t size; /**< the caller's sizeof */
	/** Examples of inputs, for converting a float model to integers; NULL: the model is
	 * computed in FP16. Each example has all numbers of all inputs, in the model's order of
	 * inputs and of axes, which nvdla_compile() cannot check: only the count is checked */
	const float *samples;
	size_t num_sample_numbers; /**< count of the numbers in samples, of all examples together */
	double percentile;	   /**< for NVDLA_RANGE_PERCENTILE, in percent; 0: 99.99 */
	uint32_t ranges;	   /**< enum nvdla_range_method */
	/** enum nvdla_data_type in which a float model is computed: NVDLA_DATA_HALF without samples
	 * and calibration_table, with them NVDLA_DATA_INT8 or NVDLA_DATA_INT16. 0: the first of the
	 * possible types */
	uint32_t precision;
	uint32_t keep_bias;	   /**< not 0: do not correct biases for the rounding of kernels */
	/**
	 * not 0: tensors between operators become outputs, as with
	 * nvdla::CompileOptions::everyTensor
	 */
	uint32_t every_tensor;
	/** Strategy as a text for nvdla::parseStrategy(); NULL: an empty text, which stands for the
	 * defaults */
	const char *strategy;
	/** On-chip memory for surfaces between layers, in bytes */
	uint64_t sram_size;
	uint32_t fold_sums; /**< a value of enum nvdla_fold_sums */
	/** Core to compile for: nvdla_device_info.variant of a device; NULL: nv_full */
	const char *target;
	/** Sizes of inputs that the model leaves open, each as nvdla::parseInputShape() reads it */
	const char *const *shapes;
	size_t num_shapes;
	uint32_t host; /**< a value of enum nvdla_host_use */
	/** File with the scales of tensors, as nvdla::readCalibrationTable() reads it; NULL: ranges
	 * are those of the samples */
	const char *calibration_table;
};

/**
 * Compile a TensorFlow Lite or ONNX model, as nvdla::compileModel()
 *
 * data: the whole file, which is checked, and not needed afterwards. options: may be NULL. model:
 * set to a model that the caller frees
 */
enum nvdla_status nvdla_compile(const void *data, size_t size,
				const struct nvdla_compile_options *options,
				struct nvdla_model **model);
/** Compile the model's file at path; of a Caffe net, the .prototxt, beside which the .caffemodel
 * is */
enum nvdla_status nvdla_compile_file(const char *path, const struct nvdla_compile_options *options,
				     struct nvdla_model **model);
void nvdla_model_free(struct nvdla_model *model);

/** data: set to the loadable's bytes, which the model owns */
enum nvdla_status nvdla_model_get_data(const struct nvdla_model *model, const void **data,
				       size_t *size);

/** Result of compiling an operator of a model; size is the caller's sizeof */
struct nvdla_layer_info {
	size_t size;
	const char *name;      /**< name of the operator's first output; owned by the model */
	const char *type;      /**< type in the file's format; owned by the model */
	const char *cpu;       /**< why the CPU runs the operator, else ""; owned by the model */
	size_t num_operations; /**< operations of the core or CPU; 0: none needed, or another
				  operator's operations compute it */
	uint32_t has_error;    /**< not 0: calibrated; the next three members are set */
	double error_ratio;    /**< nvdla::LayerError::ratio, decibels; infinite: exact */
	double own_error_ratio;
	double largest_error;
	/** why a library of the host runs the operator, "" if none does; owned by the model */
	const char *host;
};

size_t nvdla_model_num_layers(const struct nvdla_model *model);
enum nvdla_status nvdla_model_layer(const struct nvdla_model *model, size_t index,
				    struct nvdla_layer_info *info);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif /* NVDLA_NVDLA_MODEL_H */
