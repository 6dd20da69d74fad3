/* SPDX-License-Identifier: MIT */
/*
 * A graph while it is assembled into a loadable: nodes, regions of memory and tasks.
 */
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <drm/nvdla_descriptors.h>
#include <nvdla/assembly.h>
#include <nvdla/core_geometry.h>
#include <nvdla/graph.h>
#include <nvdla/task.h>

namespace nvdla::assembly
{

/** \brief Value of an index that refers to nothing */
constexpr int none = -1;

/** \brief Largest number of regions: descriptors name a region by an int16_t, see addressOf() */
constexpr size_t maxRegions = INT16_MAX;
/** \return text of the error for a graph with more than maxRegions regions */
std::string tooManyRegions();

struct Shape {
	uint32_t c = 0;
	uint32_t h = 0;
	uint32_t w = 0;
	uint32_t n = 1;

	bool operator==(const Shape &) const = default;
};

/** \return "n x c x h x w" */
std::string toString(const Shape &shape);

/** \brief Position and shape of a part in its whole surface */
struct Window {
	uint32_t cube = 0; /**< index of the part's first cube (sample) in a batch */
	uint32_t channel = 0;
	uint32_t line = 0;
	uint32_t column = 0;
	uint32_t lineStep = 1; /**< the part has every lineStep-th line of the whole */
	Shape shape;
	bool turned = false; /**< transposed: operations see groups of channels as lines */

	uint64_t elements() const { return uint64_t{ shape.c } * shape.h * shape.w; }
	/** \brief Whether two windows of the same whole have an element in common */
	bool meets(const Window &other) const;
	bool operator==(const Window &) const = default;
};

enum class RegionKind : uint8_t { Constant, Intermediate, Input, Output, Part };

/** \brief Bytes in memory that operations read and write: a surface or a constant */
struct Region {
	std::string name;
	RegionKind kind = RegionKind::Intermediate;
	MemoryDomain domain = MemoryDomain::System;
	uint64_t bytes = 0;	     /**< size, with bytes behind the surface that engines access */
	std::vector<std::byte> data; /**< contents of a constant */
	bool staged = false;	     /**< a constant that is copied to on-chip memory */
	bool mayBeOnChip = false;    /**< a surface with Place::Auto */
	uint16_t memory = 0;	     /**< id of the memory in the loadable */
	uint64_t offset = 0;
	int whole = none; /**< for a part: index of the whole surface's region */
	uint64_t offsetInWhole = 0;
	Window window; /**< position in the whole surface */
};

/** \brief A surface whose shape and layout are known */
struct SurfaceState {
	TensorDesc desc;
	bool planar = false;
	uint32_t firstPixel = 0; /**< picture: number of pixels between address and first pixel */
	Place place = Place::Memory;
	int region = none;	   /**< index of its region; none for a stream */
	int producer = none;	   /**< index of the node that writes it; none for inputs */
	int taker = none;	   /**< index of the node that takes the stream */
	uint64_t missing = 0;	   /**< number of elements that no operation writes yet */
	std::vector<Window> parts; /**< parts that operations have written so far */
};

/**
 * \brief The number that stands for a region in descriptors while a graph is assembled
 *
 * The loadable's writer replaces the number by an index into the task's address table. In both, 0
 * is the task's network descriptor, so regions begin at 1.
 */
inline int16_t addressOf(int region)
{
	return static_cast<int16_t>(region + 1);
}

/** \brief The inverse of addressOf() */
inline size_t regionOf(int16_t address)
{
	return static_cast<size_t>(address) - 1;
}

/** \brief An operation with its descriptors */
struct Node {
	std::string name;
	const char *kind = "";
	std::string piece; /**< name of the node if its operation takes several nodes */
	bool cpu = false;
	nvdla_op_type type = NVDLA_OP_BDMA;
	nvdla_operation_desc operation = {};
	nvdla_surface_desc surface = {};
	EmuOperation emu;
	std::vector<int> reads; /**< indices of regions */
	std::vector<int> writes;
	int producer = none; /**< index of the node whose stream this node takes */
	int lut = none;	     /**< index of its look-up table in Plan::luts */
	/** \brief A convolution reuses input or weights that the previous one left in CBUF */
	bool reusesData = false;
	bool reusesWeights = false;
	uint32_t keptLines = 0;	  /**< if reusesData: input lines that it reuses; 0: all */
	uint32_t banks = 0;	  /**< buffer banks for data and weights together */
	uint32_t weightBanks = 0; /**< least number of buffer banks for weights */
	/** \brief Name of each cube in the descriptor, with the name of the cube's surface */
	std::vector<std::pair<std::string, std::string>> cubes;

	/** \brief Index of the first and last node of its chain: the nodes that streams connect */
	size_t chainFirst = 0;
	size_t chainLast = 0;
};

/** \brief Neighbouring nodes that become one task */
struct TaskRange {
	size_t first = 0;
	size_t last = 0; /**< index of the node behind the last one */
	bool cpu = false;
};

struct Plan {
	std::vector<Region> regions;
	std::vector<Node> nodes;
	std::vector<nvdla_lut_desc> luts;
	std::vector<TaskRange> tasks;

	/** \brief Whether both nodes access some of the same bytes, and at least one writes them */
	bool conflict(const Node &one, const Node &other) const;
};

constexpr const char *what = "assemble graph";

/** \return "operation 'name' (kind, piece)" */
std::string where(const Node &node);

inline uint32_t divideUp(uint32_t value, uint32_t divisor)
{
	return (value + divisor - 1) / divisor;
}

/**
 * \brief Let BDMA copy staged constants to on-chip memory, and let their readers read the copies
 */
Result<void> stageConstants(Plan &plan);

/** \brief Find the chains of streams and divide the nodes into tasks */
Result<void> divideIntoTasks(Plan &plan, const AssembleOptions &options);

/** \brief Let convolutions of a task reuse input or weights of the convolution before them */
void linkConvolutions(Plan &plan);

/** \brief Put as many surfaces with Place::Auto into on-chip memory as fit */
void placeOnChip(Plan &plan, const AssembleOptions &options);

/**
 * \brief Give each region its memory
 * \param[in] apart surfaces of branches that could run at the same time share no bytes, even if
 * that takes more memory; in on-chip memory they share some if there is not enough room
 * \return the memories, in the order of their ids
 */
std::vector<Memory> placeRegions(Plan &plan, const AssembleOptions &options, bool apart);

/** \return for each node its name, its task and its place in the task, in the nodes' order */
std::vector<AssembledStep> stepsOf(const Plan &plan);

/** \return the bytes of each used region, except parts; to be called after placeRegions() */
std::vector<AssembledRange> rangesOf(const Plan &plan);

/** \brief An order of two nodes, given by their indices, that the user asked for */
struct ExplicitEdge {
	size_t before;
	size_t after;
	nvdla_event event;
};
/**
 * \brief Make the task graph of a task for the core
 * \param[in] edges that the user asked for, besides those that follow from data
 */
Result<std::vector<nvdla_graph_node>> connect(const Plan &plan, const TaskRange &range,
					      const std::vector<ExplicitEdge> &edges);

/** \brief Check a task by the driver's rules, and report violations in the user's names */
Result<void> judge(const CoreGeometry &core, const Plan &plan, const TaskRange &range,
		   const DlaTask &task);

} /* namespace nvdla::assembly */
