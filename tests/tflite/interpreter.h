/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite's interpreter, with and without the delegate.
 */
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tensorflow/lite/c/c_api.h>

#include "model_folder.h"

namespace nvdla::test
{

using DelegatePointer = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate *)>;
using InterpreterPointer = std::unique_ptr<TfLiteInterpreter, decltype(&TfLiteInterpreterDelete)>;
using DelegateOptions = std::map<std::string, std::string>;

/** \brief The delegate of the library that an application loads, as one does it */
DelegatePointer loadDelegate(const DelegateOptions &options);

/** \brief Which of TensorFlow Lite's own kernels compute an operator */
enum class TfliteKernels : uint8_t {
	Optimised, /**< those that an application has */
	Reference  /**< slow ones that the others are checked against */
};

/** \brief A model that is ready to run */
class Interpreter
{
public:
	/** \param[in] delegate nullptr: TensorFlow Lite alone; it is no longer needed afterwards */
	Interpreter(std::vector<std::byte> model, TfLiteDelegate *delegate,
		    TfliteKernels kernels = TfliteKernels::Optimised);

	/** \return whether TensorFlow Lite makes an interpreter with the delegate at all */
	static bool canPrepare(const std::vector<std::byte> &model, TfLiteDelegate *delegate);

	/** \brief Give the only input another shape */
	void resize(const std::vector<int> &shape);
	/** \brief Write the inputs */
	void set(const std::vector<Array> &inputs);
	/** \return whether TensorFlow Lite says it went well */
	bool invoke();
	/** \return whether the only input, and output, have memory that is not TensorFlow Lite's */
	bool inputIsLent() const;
	bool outputIsLent() const;
	/** \return the outputs, with their types */
	std::vector<Array> outputs() const;

	/** \brief set(), invoke() and outputs(); a failure is one of the test */
	std::vector<Array> run(const std::vector<Array> &inputs);

private:
	std::vector<std::byte> bytes_;
	std::unique_ptr<TfLiteModel, decltype(&TfLiteModelDelete)> model_;
	InterpreterPointer interpreter_;
};

} /* namespace nvdla::test */
