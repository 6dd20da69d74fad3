/* SPDX-License-Identifier: MIT */
/*
 * The compiler for C and for bindings of other languages: the part of nvdla.h that is about models.
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
};

/** Sums that the SDP operation of the convolution before them computes, as nvdla::FoldSums */
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
	/**
	 * Examples of inputs, with which a float model becomes one of integers; NULL: it is
	 * computed in FP16. One example after the other, in each all numbers of all inputs, in the
	 * model's order
	 */
	const float *samples;
	size_t num_sample_numbers; /**< of all examples together */
	double percentile;	   /**< for NVDLA_RANGE_PERCENTILE, in percent; 0: 99.99 */
	uint32_t ranges;	   /**< enum nvdla_range_method */
	uint32_t precision;	   /**< enum nvdla_data_type of the integers; 0: NVDLA_DATA_INT8 */
	uint32_t keep_bias;	   /**< not 0: biases are not corrected for rounding of kernels */
	uint32_t every_tensor;	   /**< not 0: as CompileOptions::everyTensor */
	/** As nvdla::parseStrategy() reads it; NULL: as an empty text */
	const char *strategy;
	/** On-chip memory for surfaces between layers, in bytes */
	uint64_t sram_size;
	uint32_t fold_sums; /**< enum nvdla_fold_sums */
	/** The core that it is for: nvdla_device_info.variant of a device; NULL: nv_full */
	const char *target;
	/** Sizes of inputs that the model leaves open, each as nvdla::parseInputShape() reads it */
	const char *const *shapes;
	size_t num_shapes;
	uint32_t host; /**< enum nvdla_host_use */
};

/**
 * Compile a TensorFlow Lite or ONNX model, as nvdla::compileModel()
 *
 * data: the whole file, not needed afterwards; checked, whatever it is. options: may be NULL.
 * model: to be freed
 */
enum nvdla_status nvdla_compile(const void *data, size_t size,
				const struct nvdla_compile_options *options,
				struct nvdla_model **model);
/** The same for a file; of a Caffe net it is the .prototxt, with the .caffemodel beside it */
enum nvdla_status nvdla_compile_file(const char *path, const struct nvdla_compile_options *options,
				     struct nvdla_model **model);
void nvdla_model_free(struct nvdla_model *model);

/** data: the loadable, for nvdla_network_load() and for files; owned by the model */
enum nvdla_status nvdla_model_get_data(const struct nvdla_model *model, const void **data,
				       size_t *size);

/** Result of compiling an operator of a model; size is the caller's sizeof */
struct nvdla_layer_info {
	size_t size;
	const char *name;      /**< of the first tensor that it makes; owned by the model */
	const char *type;      /**< as the model's format calls it; owned by the model */
	const char *cpu;       /**< reason for the CPU; "" if not on it; owned by the model */
	size_t num_operations; /**< 0: the operator needs none */
	uint32_t has_error;    /**< not 0: calibrated, and the three members below are known */
	double error_ratio;    /**< as nvdla::LayerError, in decibels; infinite: exact */
	double own_error_ratio;
	double largest_error;
	/** reason for a library of the host; "" if not run by one; owned by the model */
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
