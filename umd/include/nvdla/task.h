/* SPDX-License-Identifier: MIT */
/*
 * Tasks of a loadable and of a job: descriptor arrays for the core, operations for the CPU.
 *
 * For programs that inspect networks or write descriptors of their own. The arrays go to the
 * driver unchanged, so this header, and no other, has the driver's types (drm/nvdla_descriptors.h).
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <drm/nvdla_descriptors.h>

#include <nvdla/element_function.h>
#include <nvdla/error.h>
#include <nvdla/loadable.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief One entry of a task's address table: a range of one of the loadable's memories */
struct TaskAddress {
	uint16_t memory = 0; /**< id of the loadable's memory */
	uint64_t offset = 0;
	uint64_t size = 0; /**< bytes of the range */
	/** \brief False for descriptor lists and dummies, which no operation reads or writes */
	bool used = false;
};

/**
 * \brief A task for the core
 *
 * The arrays have the layout of drm/nvdla_descriptors.h; dlaTask() converts older layouts. graph,
 * operations and surfaces have one entry per operation.
 */
struct DlaTask {
	uint16_t id = 0;
	std::vector<nvdla_graph_node> graph;
	std::vector<nvdla_operation_desc> operations;
	std::vector<nvdla_surface_desc> surfaces;
	std::vector<nvdla_lut_desc> luts;
	std::vector<TaskAddress> addresses;
	std::vector<std::string> layers; /**< layer of each operation; see Task::layers */
};

/** \brief Entry of a job's address table: a range of a buffer */
struct BufferRange {
	uint32_t handle = 0; /**< GEM handle of the buffer; 0 if no operation uses the entry */
	uint64_t offset = 0;
	uint64_t size = 0; /**< bytes; 0: up to the buffer's end */
};

/** \brief Descriptors of a task, in memory of the caller */
struct TaskGraph {
	std::span<const nvdla_graph_node> graph;
	std::span<const nvdla_operation_desc> operations;
	std::span<const nvdla_surface_desc> surfaces;
	std::span<const nvdla_lut_desc> luts;
};

/** \brief One task of a job; does not own its arrays */
struct JobTask : TaskGraph {
	std::span<const BufferRange> addresses;
	/** \brief Handle of a PreparedTask; 0: the graph in TaskGraph is used */
	uint32_t prepared = 0;
};

/**
 * \brief Kinds of CPU steps; NVIDIA's runtime does not know those that are called extensions
 */
enum class EmuOpType : uint8_t {
	Power = 0,   /**< y = (shift + scale * x) ^ power */
	Softmax = 1, /**< over all channels of a pixel */
	Reshape = 2, /**< changes the shape, with elements in the order H, W, C; extension */
	ArgMax = 3,  /**< index of the channel of a pixel that has the largest element; extension */
	/** \brief x / sqrt(sum of the squares of a pixel's channels); extension */
	Normalize = 4,
	/** \brief x / (shift + scale * sum of squares of \a window channels around x) ^ power;
	 * extension
	 */
	LocalResponse = 5,
	LogSoftmax = 6, /**< natural logarithm of Softmax; extension */
	Standardize =
		7,     /**< (x - mean) / sqrt(variance + shift) of a pixel's channels; extension */
	Largest = 8,   /**< the largest of a pixel's channels; extension */
	Function = 9,  /**< function(shift + scale * inner(x)), parameter: power; extension */
	Smallest = 10, /**< the smallest of a pixel's channels; extension */
	/** \brief Like Normalize, but integers are rounded twice; extension */
	NormalizeTwice = 11,
	/** \brief Kernels in the order of a convolution's weights, from a cube's pixels or
	 * channels; extension */
	PackWeights = 12,
};

/** \return true if an operation reduces all channels to one */
inline bool makesOneChannel(EmuOpType type)
{
	return type == EmuOpType::ArgMax || type == EmuOpType::Largest ||
	       type == EmuOpType::Smallest;
}
/** \return whether an operation uses the members power, scale and shift */
inline bool hasPower(EmuOpType type)
{
	return type == EmuOpType::Power || type == EmuOpType::LocalResponse ||
	       type == EmuOpType::Standardize || type == EmuOpType::Function;
}

/** \brief A cube that a CPU operation reads or writes */
struct EmuBuffer {
	uint16_t address = 0; /**< index into the task's addresses */
	uint64_t offset = 0;
	DataType type = DataType::Half;
	uint32_t w = 0;
	uint32_t h = 0;
	uint32_t c = 0;
	uint32_t lineStride = 0;
	uint32_t surfaceStride = 0;
	PixelFormat format = PixelFormat::Feature; /**< Feature; or FeatureX8, for INT8 only */
};

/** \brief Order of weights that a step PackWeights makes */
struct EmuWeightOrder {
	uint16_t groupKernels = 1;  /**< kernels in a kernel group, CoreGeometry::groupKernels() */
	uint16_t blockChannels = 1; /**< channels of a block, CoreGeometry::macChannels */
	uint16_t lines = 1;	    /**< lines of a kernel; all taps get the same element */
	uint16_t columns = 1;
	bool ofChannels = false; /**< true: each channel is a kernel; false: each pixel is */
};

struct EmuOperation {
	EmuOpType type = EmuOpType::Power;
	float inScale = 1.0f;  /**< real value of one step of an integer input */
	float outScale = 1.0f; /**< real value of one step of an integer output */
	int8_t outZero = 0;    /**< the integer that represents 0 in the output; extension */
	int8_t inZero = 0;     /**< zero point of the input; extension */
	uint8_t window = 0;    /**< LocalResponse: channels, an odd number; extension */
	/** \brief Only for Function: its function; extension */
	ElementFunction function = ElementFunction::Identity;
	ElementFunction inner =
		ElementFunction::Identity; /**< applied to a Function's input; extension */
	float power = 1.0f;
	float scale = 1.0f;
	float shift = 0.0f;
	/** \brief Reshape: transposition of the elements; extension */
	AxisOrder axes;
	EmuWeightOrder weights; /**< only for PackWeights: order of the weights; extension */
	EmuBuffer src;
	EmuBuffer dst;
};

/** \brief A task for the CPU */
struct EmuTask {
	uint16_t id = 0;
	std::vector<EmuOperation> operations;
	std::vector<TaskAddress> addresses;
	std::vector<std::string> layers; /**< layer of each operation; see Task::layers */
};

/**
 * \brief A task for a library of the host; extension
 *
 * The model's inputs and outputs have the names of the task's tensors. These are plain
 * (PixelFormat::Plain) and have the model's types and shapes. Without a model, each input is
 * converted to the layout and type of the output with the same index.
 */
struct HostTask {
	uint16_t id = 0;
	/** \brief Name of the blob with an ONNX or TensorFlow Lite file; empty: there is none */
	std::string model;
	std::vector<TensorDesc> inputs;
	std::vector<TensorDesc> outputs;
	std::vector<TaskAddress> addresses; /**< addresses of the inputs, then of the outputs */
	/** \brief Layer of each operator of the model; see Task::layers */
	std::vector<std::string> layers;
	std::vector<std::string> reasons; /**< for each operator, why the core does not compute
					     it */
};

using AnyTask = std::variant<DlaTask, EmuTask, HostTask>;

/**
 * \brief Take a task for the core out of a loadable
 *
 * - Files of firmware interface 0.11 and older, and of the compiler ONNC, have data cubes of 28
 *   bytes, without an offset; the cubes are converted.
 * - graph[i].index becomes i: not every compiler writes it.
 * - An edge whose engine differs from the named node's leads to another task and is dropped;
 *   dependency_count is computed again.
 *
 * The contents of the operations are not checked here; the driver does that.
 *
 * \param[in] loadable as read() or check() leave it
 * \param[in] id of an entry of the task list with Interface::Dla1
 * \return InvalidFile naming the descriptor list that is short or missing
 */
Result<DlaTask> dlaTask(const Loadable &loadable, uint16_t id);

/**
 * \brief Take a task for the CPU out of a loadable
 *
 * Compilers have written two layouts with the same version number. Both are read; the size of the
 * operation list distinguishes them.
 */
Result<EmuTask> emuTask(const Loadable &loadable, uint16_t id);

/**
 * \brief Take a task for the host out of a loadable
 * \return InvalidFile naming the tensor that is impossible or does not fit the task
 */
Result<HostTask> hostTask(const Loadable &loadable, uint16_t id);

/** \return all tasks in the order in which they are submitted */
Result<std::vector<AnyTask>> tasksInOrder(const Loadable &loadable);

/** \brief The tensors of a StateEntry */
struct StateTensors {
	TensorDesc before;
	TensorDesc after;
};

/** \brief Tasks of a network, and the tensors that the application binds */
struct NetworkParts {
	std::vector<AnyTask> tasks; /**< tasks in the order of their submission */
	std::vector<TensorDesc> inputs;
	std::vector<TensorDesc> outputs;
	std::vector<StateTensors> states;
};

/**
 * \return tasksInOrder(), and the tensors as the loadable describes them. Unlike in
 * Loadable::inputs() and outputs(), they are not checked, so that networks for another core can be
 * shown
 */
Result<NetworkParts> networkParts(const Loadable &loadable);

} /* namespace nvdla */

#pragma GCC visibility pop
