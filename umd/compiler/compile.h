/* SPDX-License-Identifier: MIT */
/*
 * Compilation of models in memory, common to importers and delegates.
 */
#pragma once

#include <functional>
#include <map>
#include <span>

#include <nvdla/compiler.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/**
 * \brief Reads the sample with an index: numbers for each input, as in Calibration::samples
 *
 * A reader that computes each sample when it is asked keeps only one sample in memory.
 */
using SampleReader = std::function<Result<std::vector<std::vector<float>>>(size_t)>;

/**
 * \brief Compile a model that an importer or an application has built in memory
 *
 * \param[in] model checked by Model::setAsideInvalid()
 * \param[in] samples reads samples for calibration in place of options.calibration->samples, which
 * only states their number then; may be empty
 * \return the loadable and a report; Unsupported naming all operators that are not known or cannot
 * be lowered
 */
Result<CompiledModel> compileInMemory(Model model, const CompileOptions &options = {},
				      const SampleReader &samples = {});

/**
 * \brief Find out whether each operator can be compiled, in the order of \a model
 *
 * Each operator is compiled by itself, with its constants; an error is its OperatorSupport::reason.
 *
 * \param[in] options only the core and the calibration are used
 */
std::vector<OperatorSupport> supportedOperators(const Model &model, const CompileOptions &options);

/**
 * \brief Compile a model in parts: some run on the core, the others in a library of the host
 *
 * The library is ONNX Runtime for ONNX files, TensorFlow Lite for .tflite files.
 *
 * \return one network of all parts; an error if a part needs the library, and it is missing or
 * cannot run this part
 */
Result<CompiledModel> compileParts(std::span<const std::byte> file, const CompileOptions &options);

/**
 * \brief Have ONNX Runtime compute the operators that do not depend on a model's inputs
 * \param[in] file in ONNX's format
 * \param[in] shapes as CompileOptions::shapes
 * \return the model with constants in place of these operators; an error if there is no ONNX
 * Runtime, or it cannot run the model
 */
Result<std::vector<std::byte>> computeConstants(std::span<const std::byte> file,
						std::span<const InputShape> shapes);

/** \return InvalidArgument that names an invalid option, or says that samples are missing */
Result<void> checkCalibration(const Calibration &calibration);

/**
 * \return InvalidArgument naming a tensor that is quantized already; Unsupported naming a tensor
 * that is not float for another reason
 */
Result<void> checkFloat(const Model &model);

/** \brief Errors of a quantized model's operators, by the values that they compute */
using LayerErrors = std::map<ValueId, LayerError>;

/**
 * \brief Turn the values and kernels of a float model into integers
 *
 * With neither samples nor a table all values get the same range: such a model shows only whether
 * the core can compute it.
 *
 * \param[in,out] model after runPasses()
 * \param[in] reader as \a samples of compileInMemory()
 * \return each operator's deviation from the float model, none without samples; InvalidArgument
 * naming the fault of the samples; errors of checkFloat()
 */
Result<LayerErrors> calibrate(Model &model, const Calibration &calibration,
			      const SampleReader &reader = {}, const CoreGeometry &core = nvFull);

} /* namespace nvdla::compiler */
