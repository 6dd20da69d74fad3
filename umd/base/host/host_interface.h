/* SPDX-License-Identifier: MIT */
/*
 * Interface of the module for a library of the host: models that the library runs.
 *
 * The module is linked with that library, and looked for when a network needs it. Types of elements
 * are those of ONNX files.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDLA_HOST_INTERFACE 2
/** The function of the module, a nvdla_host_entry */
#define NVDLA_HOST_ENTRY "nvdla_host_library"

/** A tensor of the caller's: elements one behind the other, last axis innermost */
struct nvdla_host_array {
	const char *name;
	int32_t type;
	const int64_t *shape;
	size_t rank;
	void *data;
	size_t size; /**< bytes, as many as type and shape need */
};

/** Told what an output of a model is; extents that are not known are -1 */
typedef void (*nvdla_host_found)(void *context, const char *name, int32_t type,
				 const int64_t *shape, size_t rank);
/** Told why a function failed */
typedef void (*nvdla_host_say)(void *context, const char *message);

/** The shape that an input of a TensorFlow Lite file gets, by its place among the inputs */
struct nvdla_host_shape {
	int32_t input;
	const int32_t *extents;
	size_t rank;
};

/** Takes a file that a module made; the bytes are the module's */
typedef void (*nvdla_host_take)(void *context, const void *file, size_t size);

/** Some operators of a TensorFlow Lite file's first graph, and that graph's tensors by index */
struct nvdla_host_selection {
	const int32_t *operators; /**< in ascending order */
	size_t num_operators;
	const int32_t *inputs;
	size_t num_inputs;
	const int32_t *outputs;
	size_t num_outputs;
};

struct nvdla_host_functions {
	uint32_t version; /**< NVDLA_HOST_INTERFACE */
	/** model: any bytes, not needed afterwards; NULL if they are no model that can run */
	void *(*open)(const void *model, size_t size, void *context, nvdla_host_say say);
	void (*close)(void *model);
	/** 0; else it failed. found: what the file says of each output */
	int (*outputs)(void *model, void *context, nvdla_host_found found, nvdla_host_say say);
	/**
	 * 0; else it failed, also if an output is not what outputs says, or is too large for it.
	 * From any number of threads at once. found: if not NULL, outputs only have names, and it
	 * is told what they are
	 */
	int (*run)(void *model, const struct nvdla_host_array *inputs, size_t num_inputs,
		   const struct nvdla_host_array *outputs, size_t num_outputs, void *context,
		   nvdla_host_found found, nvdla_host_say say);
	/**
	 * 0; else it failed. Makes a file of some operators of a file, with what these need of it.
	 * NULL in the module of ONNX Runtime: anybody can read and write all of an ONNX file
	 */
	int (*select)(const void *model, size_t size, const struct nvdla_host_selection *selection,
		      void *context, nvdla_host_take take, nvdla_host_say say);
	/**
	 * 0; else it failed. Makes a file whose tensors have the shapes that they get if the inputs
	 * have these. NULL as select
	 */
	int (*resize)(const void *model, size_t size, const struct nvdla_host_shape *shapes,
		      size_t num_shapes, void *context, nvdla_host_take take, nvdla_host_say say);
};

typedef const struct nvdla_host_functions *(*nvdla_host_entry)(void);

#ifdef __cplusplus
}
#endif
