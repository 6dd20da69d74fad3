/* SPDX-License-Identifier: MIT */
/*
 * Converts options of operators from TensorFlow Lite's C structs to the tables of its files.
 */
#pragma once

#include <optional>

#include "tflite_generated.h"

namespace nvdla::delegate
{

/** \brief Options of an operator as a table in a file, and the kind of the table */
struct WrittenOptions {
	tflite::BuiltinOptions kind = tflite::BuiltinOptions::NONE;
	flatbuffers::Offset<void> table = 0;
};

/**
 * \brief Write the options of a node
 *
 * \param[in] code BuiltinOperator of the node
 * \param[in] from TfLiteNode::builtin_data of a node with this operator
 * \return the table; nothing for operators or options that this function does not know
 */
std::optional<WrittenOptions> writeOptions(flatbuffers::FlatBufferBuilder &builder, int code,
					   const void *from);

} /* namespace nvdla::delegate */
