/* SPDX-License-Identifier: MIT */
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nvdla/graph.h>

namespace nvdla::test
{

/** \return an SDP operation that does nothing but the activation */
inline op::Sdp relu(std::string name, std::string input, std::string output)
{
	return { .name = std::move(name),
		 .input = std::move(input),
		 .output = std::move(output),
		 .x1 = op::SdpUnit{ .activation = op::Activation::Relu } };
}

/** \return why a graph cannot be assembled, empty if it can */
inline std::string refusal(const Graph &graph, const AssembleOptions &options = {})
{
	auto loadable = graph.assemble(options);

	return loadable ? "" : loadable.error().message();
}

/** \brief A graph cannot be assembled, and all of \a words are in the message */
inline void expectRefusal(const Graph &graph, std::initializer_list<const char *> words)
{
	const std::string message = refusal(graph);

	for (const char *word : words)
		EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

} /* namespace nvdla::test */
