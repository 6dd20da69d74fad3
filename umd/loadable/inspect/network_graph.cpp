/* SPDX-License-Identifier: MIT */
#include "network_graph.h"

#include <map>
#include <set>

#include <fmt/core.h>

#include "loadable/cubes.h"
#include "loadable/text/names.h"

namespace nvdla::inspect
{

namespace
{

/* A range of bytes in a memory. */
struct Range {
	uint16_t memory = 0;
	uint64_t begin = 0;
	uint64_t end = 0;

	bool overlaps(const Range &other) const
	{
		return memory == other.memory && begin < other.end && other.begin < end;
	}
};

struct Access {
	Range range;
	std::string shape;
};

struct Accesses {
	std::vector<Access> reads;
	std::vector<Access> writes;
};

/* Removes \a part from \a ranges; \return true if they overlapped. */
bool subtract(std::vector<Range> &ranges, const Range &part)
{
	std::vector<Range> rest;
	bool found = false;

	for (const Range &range : ranges) {
		if (!range.overlaps(part)) {
			rest.push_back(range);
			continue;
		}
		found = true;
		if (range.begin < part.begin)
			rest.push_back({ range.memory, range.begin, part.begin });
		if (part.end < range.end)
			rest.push_back({ range.memory, part.end, range.end });
	}
	ranges = std::move(rest);
	return found;
}

class Builder
{
public:
	explicit Builder(NetworkGraph &graph) : graph_(graph) {}

	void addInput(const TensorDesc &desc);
	void addTask(const DlaTask &task);
	void addTask(const EmuTask &task);
	void addTask(const HostTask &task);
	void addOutput(const TensorDesc &desc);

private:
	struct Write {
		size_t node;
		Range range;
	};

	size_t addNode(GraphNode node);
	void addEdge(GraphEdge edge);
	void connect(size_t node, const Accesses &accesses);
	void read(size_t node, const Access &access);

	NetworkGraph &graph_;
	std::vector<Write> writes_;
	std::set<std::pair<size_t, size_t>> connected_;
};

size_t Builder::addNode(GraphNode node)
{
	graph_.nodes.push_back(std::move(node));
	return graph_.nodes.size() - 1;
}

void Builder::addEdge(GraphEdge edge)
{
	/* Nodes are in a possible order of execution, so an edge that points back is redundant. */
	if (edge.from < edge.to && connected_.emplace(edge.from, edge.to).second)
		graph_.edges.push_back(std::move(edge));
}

/* Adds an edge from each node that last wrote bytes which \a node reads. */
void Builder::read(size_t node, const Access &access)
{
	std::vector<Range> open{ access.range };

	for (auto write = writes_.rbegin(); write != writes_.rend() && !open.empty(); ++write) {
		if (write->node != node && subtract(open, write->range))
			addEdge({ write->node, node, GraphEdge::Kind::Data, access.shape });
	}
}

void Builder::connect(size_t node, const Accesses &accesses)
{
	for (const Access &access : accesses.reads)
		read(node, access);
	for (const Access &access : accesses.writes)
		writes_.push_back({ node, access.range });
}

Range rangeOf(const TensorDesc &desc)
{
	return { desc.memory, desc.offset, desc.offset + desc.size };
}

void Builder::addInput(const TensorDesc &desc)
{
	const size_t node = addNode({ GraphNode::Kind::Input, desc.describe(), {} });
	writes_.push_back({ node, rangeOf(desc) });
}

void Builder::addOutput(const TensorDesc &desc)
{
	const size_t node = addNode({ GraphNode::Kind::Output, desc.describe(), {} });
	read(node, { rangeOf(desc), fmt::format("{}x{}x{}", desc.c, desc.h, desc.w) });
}

class TaskAccesses
{
public:
	explicit TaskAccesses(const DlaTask &task) : task_(task) {}

	Accesses of(size_t index) const;

private:
	void addCube(const nvdla_data_cube &cube, std::vector<Access> &list) const;
	void addCopy(int address, unsigned lineSize, unsigned lines, unsigned line,
		     unsigned surfaces, unsigned surface, std::vector<Access> &list) const;
	void add(int address, uint64_t offset, uint64_t bytes, std::string shape,
		 std::vector<Access> &list) const;

	const DlaTask &task_;
};

void TaskAccesses::add(int address, uint64_t offset, uint64_t bytes, std::string shape,
		       std::vector<Access> &list) const
{
	if (address < 0 || static_cast<size_t>(address) >= task_.addresses.size() || !bytes)
		return;
	const TaskAddress &base = task_.addresses[static_cast<size_t>(address)];
	const uint64_t begin = base.offset + offset;
	list.push_back({ { base.memory, begin, begin + bytes }, std::move(shape) });
}

void TaskAccesses::addCube(const nvdla_data_cube &cube, std::vector<Access> &list) const
{
	if (cube.type != NVDLA_MEM_HW)
		add(cube.address, cube.offset, cube.size,
		    fmt::format("{}x{}x{}", static_cast<unsigned>(cube.channel),
				static_cast<unsigned>(cube.height),
				static_cast<unsigned>(cube.width)),
		    list);
}

void TaskAccesses::addCopy(int address, unsigned lineSize, unsigned lines, unsigned line,
			   unsigned surfaces, unsigned surface, std::vector<Access> &list) const
{
	const uint64_t bytes = uint64_t{ surfaces ? surfaces - 1 : 0 } * surface +
			       uint64_t{ lines ? lines - 1 : 0 } * line + lineSize;
	add(address, 0, bytes, fmt::format("{} bytes", bytes), list);
}

Accesses TaskAccesses::of(size_t index) const
{
	const unsigned type = task_.graph[index].op_type;
	const nvdla_surface_desc &surface = task_.surfaces[index];
	const CubePair cubes = cubesOf(type, surface);
	Accesses accesses;

	if (type == NVDLA_OP_BDMA) {
		for (unsigned i = 0; i < surface.bdma.num_transfers; i++) {
			if (i == NVDLA_BDMA_MAX_TRANSFERS)
				break;
			const nvdla_bdma_transfer &copy = surface.bdma.transfers[i];
			addCopy(copy.src_address, copy.line_size, copy.line_repeat, copy.src_line,
				copy.surf_repeat, copy.src_surf, accesses.reads);
			addCopy(copy.dst_address, copy.line_size, copy.line_repeat, copy.dst_line,
				copy.surf_repeat, copy.dst_surf, accesses.writes);
		}
		return accesses;
	}
	addCube(*cubes.src, accesses.reads);
	if (type == NVDLA_OP_CONV)
		addCube(surface.conv.weight_data, accesses.reads);
	if (type == NVDLA_OP_SDP) {
		const nvdla_sdp_op_desc &op = task_.operations[index].sdp;
		if (op.x1_op.enable)
			addCube(surface.sdp.x1_data, accesses.reads);
		if (op.x2_op.enable)
			addCube(surface.sdp.x2_data, accesses.reads);
		if (op.y_op.enable)
			addCube(surface.sdp.y_data, accesses.reads);
	}
	addCube(*cubes.dst, accesses.writes);
	return accesses;
}

void Builder::addTask(const DlaTask &task)
{
	const TaskAccesses accesses(task);
	std::vector<size_t> nodeOf(task.graph.size());
	std::vector<bool> placed(task.graph.size());
	std::map<size_t, size_t> takers; /* consumer of each stream (data passed on the fly), by the
					    index of its producer */

	for (size_t i = 0; i < task.graph.size(); i++) {
		if (const auto producer = streamProducer(task, i))
			takers[*producer] = i;
	}
	auto addChain = [&](size_t first) {
		const size_t node = addNode({ GraphNode::Kind::Device, "", {} });
		for (size_t op = first; !placed[op];) {
			placed[op] = true;
			nodeOf[op] = node;
			graph_.nodes[node].operations.push_back(
				{ task.id, op, describeOperation(task, op) });
			connect(node, accesses.of(op));
			if (const auto next = takers.find(op); next != takers.end())
				op = next->second;
		}
	};
	for (size_t i = 0; i < task.graph.size(); i++) {
		if (!streamProducer(task, i))
			addChain(i);
	}
	/* The remaining operations form cycles, which no device would run. */
	for (size_t i = 0; i < task.graph.size(); i++) {
		if (!placed[i])
			addChain(i);
	}
	for (size_t i = 0; i < task.graph.size(); i++) {
		for (const nvdla_consumer &edge : task.graph[i].consumers) {
			if (edge.index >= 0 && static_cast<size_t>(edge.index) < nodeOf.size())
				addEdge({ nodeOf[i], nodeOf[static_cast<size_t>(edge.index)],
					  GraphEdge::Kind::Order, text::eventName(edge.event) });
		}
	}
}

void Builder::addTask(const EmuTask &task)
{
	for (size_t i = 0; i < task.operations.size(); i++) {
		const EmuOperation &operation = task.operations[i];
		const OperationText text = describeOperation(task, i);
		const size_t node = addNode({ GraphNode::Kind::Cpu, "", { { task.id, i, text } } });
		auto access = [&](const EmuBuffer &cube) {
			const TaskAddress &base = task.addresses[cube.address];
			const uint64_t atom = atomBytes(cube.format);
			const uint64_t channels = atom / elementBytes(cube.type);
			const uint64_t surfaces = (cube.c + channels - 1) / channels;
			const bool empty = !surfaces || !cube.h;
			const uint64_t bytes =
				empty ? 0
				      : (surfaces - 1) * cube.surfaceStride +
						uint64_t{ cube.h - 1 } * cube.lineStride +
						uint64_t{ cube.w } * atom;
			const uint64_t begin = base.offset + cube.offset;
			return Access{ { base.memory, begin, begin + bytes },
				       fmt::format("{}x{}x{}", cube.c, cube.h, cube.w) };
		};
		connect(node, { { access(operation.src) }, { access(operation.dst) } });
	}
}

void Builder::addTask(const HostTask &task)
{
	const size_t node =
		addNode({ GraphNode::Kind::Cpu, "", { { task.id, 0, describeOperation(task) } } });
	Accesses accesses;
	auto access = [](const TensorDesc &desc) {
		return Access{ rangeOf(desc), fmt::format("{}x{}x{}", desc.c, desc.h, desc.w) };
	};

	for (const TensorDesc &desc : task.inputs)
		accesses.reads.push_back(access(desc));
	for (const TensorDesc &desc : task.outputs)
		accesses.writes.push_back(access(desc));
	connect(node, accesses);
}

} /* namespace */

Result<NetworkGraph> networkGraph(const Loadable &loadable)
{
	auto parts = networkParts(loadable);
	if (!parts)
		return forward(parts);

	NetworkGraph graph;
	Builder builder(graph);
	for (const TensorDesc &desc : parts->inputs)
		builder.addInput(desc);
	for (const AnyTask &task : parts->tasks)
		std::visit([&](const auto &any) { builder.addTask(any); }, task);
	for (const TensorDesc &desc : parts->outputs)
		builder.addOutput(desc);
	return graph;
}

} /* namespace nvdla::inspect */
