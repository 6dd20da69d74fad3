/* SPDX-License-Identifier: MIT */
/*
 * ONNX Runtime's session, with and without the execution provider.
 */
#pragma once

#include <map>
#include <string>
#include <vector>

#include <onnxruntime_c_api.h>

#include "base/host/host_model.h"
#include "model_folder.h"

namespace nvdla::test
{

using ProviderOptions = std::map<std::string, std::string>;

/** \brief ONNX Runtime in this process, with the provider's library registered */
class Runtime
{
public:
	/** \param[in] library nullptr: the one that is installed */
	explicit Runtime(const char *library = nullptr);
	~Runtime();
	Runtime(const Runtime &) = delete;
	Runtime &operator=(const Runtime &) = delete;

	const OrtApi &api() const { return *api_; }
	OrtEnv *environment() const { return environment_; }
	/** \brief A failed call is a failure of the test */
	bool done(OrtStatus *status) const;
	/** \return what went wrong, or nothing */
	std::string message(OrtStatus *status) const;

private:
	const OrtApi *api_;
	OrtEnv *environment_ = nullptr;
};

/** \brief An input or output of a session and its elements; the type is 0 if it is no tensor */
struct SessionTensor {
	HostValue what;
	std::vector<std::byte> elements;
};

/** \brief A model that is ready to run */
class Session
{
public:
	/**
	 * \param[in] options of the provider; nullptr: ONNX Runtime alone
	 * \param[in] optimized false: each operator as the standard defines it
	 */
	Session(const Runtime &runtime, const std::vector<std::byte> &model,
		const ProviderOptions *options, bool optimized = true);
	~Session();
	Session(const Session &) = delete;
	Session &operator=(const Session &) = delete;

	/** \return why there is no session; empty: there is */
	const std::string &error() const { return error_; }
	/** \brief Run it; a failure is one of the test */
	std::vector<Array> run(const std::vector<Array> &inputs);
	/**
	 * \brief Run it with inputs of any types, by their names
	 * \return an output for each of \a names; ONNX Runtime's error
	 */
	Result<std::vector<SessionTensor>> tryRun(const std::vector<SessionTensor> &inputs,
						  const std::vector<std::string> &names);

private:
	using GetName = decltype(&OrtApi::SessionGetInputName);

	std::string nameOf(size_t index, GetName get);
	SessionTensor inputOf(size_t index, const Array &array);
	OrtValue *makeInput(const SessionTensor &tensor);
	SessionTensor takeOutput(const std::string &name, OrtValue *value);
	void addProvider(OrtSessionOptions *session, const ProviderOptions &options);

	const Runtime &runtime_;
	OrtSession *session_ = nullptr;
	std::string error_;
};

} /* namespace nvdla::test */
