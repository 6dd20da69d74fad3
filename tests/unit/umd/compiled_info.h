/* SPDX-License-Identifier: MIT */
/*
 * What is known of the reference data's compiled networks.
 */
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <nvdla/tensor.h>

namespace nvdla::test
{

/** \return the folder's info.json, which is read once: parsing takes an emulated processor long */
const nlohmann::json &infoOf(const std::filesystem::path &folder);

/** \return what \a info says of the loadable with the name \a tag, null if nothing */
nlohmann::json configurationOf(const nlohmann::json &info, const std::string &tag);

/** \brief Networks of the reference data whose loadables do what they are for */
inline constexpr const char *compiledNetworks[] = {
	"bn_scale",    "conv_dilated", "conv_feat_odd",	 "conv_manyk",	  "conv_relu_odd",
	"conv_split",  "deconv_k2s2",  "inception",	 "lenet_trained", "lrn_only",
	"pool_wide",   "pools",	       "power_identity", "resblock",	  "resnet18_32",
	"sigmoid_net", "two_outputs",
};

/** \return all loadables of a network, sorted; \a folder is the network's */
std::vector<std::filesystem::path> compiledLoadables(const std::filesystem::path &folder);

/** \return how far from the float evaluation a loadable's outputs may be, in the network's units */
float toleranceOf(const std::filesystem::path &loadable);

/** \brief What the float evaluation gave for an output */
struct ExpectedOutput {
	float scale = 1.0f; /**< a step of the output in the network's units */
	std::vector<float> values;
};

/**
 * \param[in] desc the output's tensor; \a outputs is how many there are
 * \param[in] input number of the stored input
 */
ExpectedOutput expectedOutput(const std::filesystem::path &loadable, const TensorDesc &desc,
			      size_t outputs, size_t input);

/**
 * \brief Distance of an output from the float evaluation, in the network's units
 * \param[in] elements all of the tensor, its images one after the other; they are the same
 * \return infinity for a NaN, or for anything but as many elements as there should be
 */
float worstError(const ExpectedOutput &expected, const TensorDesc &desc,
		 const std::vector<float> &elements);

/** \return the first input as it was stored for a loadable, in its layout, all of them */
std::vector<std::vector<std::byte>> storedInputs(const std::filesystem::path &loadable);

} /* namespace nvdla::test */
