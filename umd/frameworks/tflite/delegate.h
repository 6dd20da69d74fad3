/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite's interface to delegates.
 */
#pragma once

#include <memory>
#include <mutex>

#include <tensorflow/lite/c/common.h>

#include "planner.h"

namespace nvdla::delegate
{

/**
 * \brief A delegate: the struct for TensorFlow Lite, and the state behind it
 *
 * Kernels in an interpreter hold references to it, so the application may destroy the delegate
 * before the interpreter.
 */
class Delegate
{
public:
	/** \param[in] session nullptr: all nodes are left to TensorFlow Lite */
	static TfLiteDelegate *create(std::shared_ptr<plugin::Session> session);
	/** \brief Destroy a delegate of create() */
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
	/* Reference to itself, which destroy() drops. */
	std::shared_ptr<Delegate> self_;
	/* Held while an interpreter prepares the delegate. */
	std::mutex lock_;
	Plan plan_;
};

} /* namespace nvdla::delegate */
