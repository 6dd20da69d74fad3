/* SPDX-License-Identifier: MIT */
/*
 * ONNX's own tests of single operators and small models (Debian's libonnx-testdata): each has a
 * model, the inputs of a run and the outputs that ONNX's authors computed.
 */
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nvdla/compiler.h>
#include <nvdla/network.h>

#include "base/host/host_model.h"
#include "reference.h"

namespace nvdla::test
{

/** \brief An input or output of a run */
struct NodeArray {
	std::string name;	    /**< of the model's input or output */
	int32_t type = 0;	    /**< of the elements, as ONNX files number them */
	std::vector<int64_t> shape; /**< in the model's order of axes */
	Numbers numbers;
	std::vector<std::byte> file; /**< a tensor as ONNX writes it; inputs only */
};

struct NodeTest {
	std::string name;
	std::vector<std::byte> file;
	std::vector<NodeArray> inputs;
	std::vector<NodeArray> outputs;
	/** \brief Shapes of inputs whose sizes the model leaves open */
	std::vector<InputShape> shapes;
	/**
	 * False for tests whose inputs or outputs are strings, sequences or optional values, or
	 * have elements of a type that numbers cannot be read of
	 */
	bool hasArrays = false;
	/** \brief Outputs are random numbers: only types and shapes are known before a run */
	bool isRandom = false;

	/**
	 * \return the same test with all inputs but the first as constants of the model, as
	 * kernels, axes and shapes are in models that people use
	 */
	NodeTest withConstants() const;
	/** \return the same test with inputs of float32 rounded to FP16; the outputs are not right
	 */
	NodeTest withHalves() const;
};

/** \return folders of all tests; none if the package is not installed */
std::vector<std::filesystem::path> nodeTestFolders();
NodeTest readNodeTest(const std::filesystem::path &folder);

/** \return elements of an input of a test, as they lie in memory */
std::vector<std::byte> nodeElements(const NodeArray &array);
/** \return an output; its numbers are none if its type is not known */
NodeArray nodeArrayOf(const HostValue &what, const std::vector<std::byte> &elements);

/** \brief How far numbers may be from those of the files */
enum class NodeTolerance {
	Runner, /**< as ONNX's own runner of these tests: 0.001 of each number, plus 1e-7 */
	Half,	/**< for FP16 on the core: 1/256 of the output's largest number */
};

/** \return in words, what is wrong with outputs of a run; empty if nothing is */
std::string nodeShortfall(const NodeTest &test, const std::vector<NodeArray> &got,
			  NodeTolerance tolerance);

/** \return outputs of one run of the compiled test on the embedded device, or the first error */
Result<std::vector<NodeArray>> runNodeTest(const CompiledModel &compiled, const NodeTest &test);

/** \return outputs of ONNX Runtime, without this project's compiler and device */
Result<std::vector<NodeArray>> runByHost(const NodeTest &test);

} /* namespace nvdla::test */
