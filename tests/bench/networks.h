/* SPDX-License-Identifier: MIT */
/*
 * Whole networks to measure: models, and what of them is multiplied.
 */
#pragma once

#include <vector>

#include "compiler/ir/model.h"
#include "onednn.h"

namespace nvdla::bench
{

/** \brief The residual networks of 224 x 224 pixels that everybody measures */
enum class Resnet : uint8_t { Layers18, Layers50 };

/**
 * \brief A residual network with random kernels and scales that leave sums in range
 * \param type Int8 or Float32
 */
compiler::Model resnet(Resnet which, compiler::ElementType type);

/**
 * \brief The convolutions and fully connected layers of a model as imported
 * \return Unsupported naming the first one that ConvShape cannot say
 */
Result<std::vector<ConvShape>> convolutionsOf(const compiler::Model &model);

} /* namespace nvdla::bench */
