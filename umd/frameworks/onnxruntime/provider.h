/* SPDX-License-Identifier: MIT */
/*
 * Implements ONNX Runtime's interface for execution providers.
 */
#pragma once

#include <string>

#include "partitioner.h"

namespace nvdla::ort
{

/** \brief Makes a provider for each session. The application gets one factory for each time that it
 * registers the library */
class Factory : public OrtEpFactory
{
public:
	/** \param[in] name name under which the application registered the library */
	Factory(const Api &api, std::string name);

	const Api &api() const { return api_; }
	const std::string &name() const { return name_; }

private:
	static OrtStatus *supportedDevices(OrtEpFactory *self,
					   const OrtHardwareDevice *const *devices, size_t count,
					   OrtEpDevice **found, size_t most,
					   size_t *foundCount) noexcept;
	static OrtStatus *createProvider(OrtEpFactory *self, const OrtHardwareDevice *const *,
					 const OrtKeyValuePairs *const *, size_t,
					 const OrtSessionOptions *sessionOptions, const OrtLogger *,
					 OrtEp **provider) noexcept;

	Api api_;
	std::string name_;
};

/** \brief Execution provider of a session */
class Provider : public OrtEp
{
public:
	/** \param[in] session the device; nullptr: all nodes are left to ONNX Runtime */
	Provider(const Api &api, std::string name, std::shared_ptr<plugin::Session> session);

private:
	static OrtStatus *capability(OrtEp *self, const OrtGraph *graph,
				     OrtEpGraphSupportInfo *support) noexcept;
	static OrtStatus *compile(OrtEp *self, const OrtGraph **graphs, const OrtNode **fused,
				  size_t count, OrtNodeComputeInfo **kernels,
				  OrtNode **contexts) noexcept;

	Result<bool> isBody(const OrtGraph *graph, const GraphView &view) const;
	Result<void> choose(const OrtGraph *graph, OrtEpGraphSupportInfo *support);
	Result<OrtNodeComputeInfo *> makeKernel(const OrtNode *fused);

	Api api_;
	std::string name_;
	std::shared_ptr<plugin::Session> session_;
	/* Partitions that capability() chose and that no kernel has yet: compile() moves each of
	 * them into a kernel. */
	std::vector<PlacedPartition> placed_;
};

} /* namespace nvdla::ort */
