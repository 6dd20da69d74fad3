/* SPDX-License-Identifier: MIT */
/*
 * C interface of a module that runs models with a library of the host, ONNX Runtime or TensorFlow
 * Lite.
 *
 * Each library has a module, which is linked with it. The runtime loads the module when a network
 * needs the library. Types of elements are numbered as in ONNX files.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDLA_HOST_INTERFACE 3
/** Name of the function of type nvdla_host_entry that a module exports */
#define NVDLA_HOST_ENTRY "nvdla_host_library"

/** A tensor in the caller's memory: contiguous elements, of which the last axis varies fastest */
struct nvdla_host_array {
	const char *name;
	int32_t type;
	const int64_t *shape; /**< lengths of the axes; -1: a length of an output that only the run
				 shows; then nvdla_host_room gives data */
	size_t rank;
	void *data;
	size_t size; /**< bytes in data: as many as type and shape need */
};

/** Receives type and shape of a model's output; lengths that the model leaves open are -1 */
typedef void (*nvdla_host_found)(void *context, const char *name, int32_t type,
				 const int64_t *shape, size_t rank);
/**
 * Called when the run has shown the shape of output number index: gives memory for its elements.
 * Returns 0 if it succeeded; *data may be NULL if there are no elements
 */
typedef int (*nvdla_host_room)(void *context, size_t index, const int64_t *shape, size_t rank,
			       void **data);
/** Receives a message: the reason why a function failed */
typedef void (*nvdla_host_say)(void *context, const char *message);

/** A new shape for an input of a TensorFlow Lite file; input: index among the file's inputs */
struct nvdla_host_shape {
	int32_t input;
	const int32_t *extents;
	size_t rank;
};

/** Receives a file that a module made; the module owns the bytes */
typedef void (*nvdla_host_take)(void *context, const void *file, size_t size);

/** Selected operators of a TensorFlow Lite file's first graph, and the tensors that become inputs
 * and outputs, all by their indices in that graph */
struct nvdla_host_selection {
	const int32_t *operators; /**< indices of the operators, ascending */
	size_t num_operators;
	const int32_t *inputs;
	size_t num_inputs;
	const int32_t *outputs;
	size_t num_outputs;
};

struct nvdla_host_functions {
	uint32_t version; /**< version of this interface: NVDLA_HOST_INTERFACE */
	/** Opens a model. model: bytes that are not trusted, not needed afterwards. Returns NULL if
	 * they are not a valid model */
	void *(*open)(const void *model, size_t size, void *context, nvdla_host_say say);
	void (*close)(void *model);
	/** Describes the outputs. Returns 0 if it succeeded. found: called for each output, with
	 * the type and shape that the file states */
	int (*outputs)(void *model, void *context, nvdla_host_found found, nvdla_host_say say);
	/**
	 * Runs the model. Returns 0 if it succeeded. It fails, too, if an output's type or shape
	 * differs from outputs, or if an output is too large. May be called from several threads at
	 * once. found: if not NULL, it gets type and shape of each output that outputs names, and
	 * no elements are stored. room: called for outputs with a length of -1
	 */
	int (*run)(void *model, const struct nvdla_host_array *inputs, size_t num_inputs,
		   const struct nvdla_host_array *outputs, size_t num_outputs, void *context,
		   nvdla_host_found found, nvdla_host_room room, nvdla_host_say say);
	/**
	 * Makes a file with selected operators of a file, and the tensors that these need. Returns
	 * 0 if it succeeded. NULL in the module of ONNX Runtime, because operators of ONNX files
	 * are selected without the library
	 */
	int (*select)(const void *model, size_t size, const struct nvdla_host_selection *selection,
		      void *context, nvdla_host_take take, nvdla_host_say say);
	/**
	 * Makes a copy of a file in which inputs have new shapes, and all other tensors the shapes
	 * that follow from them. Returns 0 if it succeeded. NULL in the module of ONNX Runtime, as
	 * select is
	 */
	int (*resize)(const void *model, size_t size, const struct nvdla_host_shape *shapes,
		      size_t num_shapes, void *context, nvdla_host_take take, nvdla_host_say say);
};

typedef const struct nvdla_host_functions *(*nvdla_host_entry)(void);

#ifdef __cplusplus
}
#endif
