/* SPDX-License-Identifier: MIT */
/*
 * Implements TensorFlow Lite's interface for delegates.
 */
#pragma once

#include <memory>
#include <mutex>

#include <tensorflow/lite/c/common.h>

#include "planner.h"

namespace nvdla::delegate
{

/**
 * \brief A delegate: the struct that TensorFlow Lite knows, and the delegate's own state
 *
 * Kernels in an interpreter hold references to the delegate, so the application may destroy the
 * delegate before the interpreter.
 */
class Delegate
{
public:
	/** \param[in] session the device; nullptr: all nodes are left to TensorFlow Lite */
	static TfLiteDelegate *create(std::shared_ptr<plugin::Session> session);
	/** \brief Destroy a delegate that create() returned */
	static void destroy(TfLiteDelegate *delegate);

private:
	struct Kernel;

	explicit Delegate(std::shared_ptr<plugin::Session> session);

	static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate);
	static void *initKernel(TfLiteContext *context, const char *buffer, size_t size);
	static void freeKernel(TfLiteContext *context, void *data);
	static TfLiteStatus prepareKernel(TfLiteContext *context, TfLiteNode *node);
	static TfLiteStatus invokeKernel(TfLiteContext *context, TfLiteNode *node);

	TfLiteDelegate interface_;
	std::shared_ptr<plugin::Session> session_;
	/* The delegate's reference to itself, which keeps it alive until destroy(). */
	std::shared_ptr<Delegate> self_;
	/* Protects plan_: interpreters in several threads may prepare the same delegate. */
	std::mutex lock_;
	Plan plan_;
};

} /* namespace nvdla::delegate */
