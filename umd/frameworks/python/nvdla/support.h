/* SPDX-License-Identifier: MIT */
/*
 * Helpers for all files of the module _nvdla: errors, Python's lock, memory for numpy.
 */
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/tensor.h>
#include <pybind11/pybind11.h>

namespace nvdla::python
{

namespace py = pybind11;

/** \brief Interval at which a waiting thread checks for signals (Ctrl-C) */
inline constexpr std::chrono::milliseconds signalInterval(50);

/** \return \a text for Python, with \xNN in place of each byte that is not UTF-8. Names of files
 * and of layers may have any bytes */
inline py::str textOf(const std::string &text)
{
	return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
		text.data(), static_cast<py::ssize_t>(text.size()), "backslashreplace"));
}

/** \brief Raise the Python exception for an error */
[[noreturn]] inline void raise(const Error &error)
{
	const py::object exception =
		py::module_::import("nvdla._errors")
			.attr("make")(errorName(error.code), textOf(error.what),
				      textOf(error.where), textOf(error.why),
				      textOf(error.message()));

	PyErr_SetObject(py::type::of(exception).ptr(), exception.ptr());
	throw py::error_already_set();
}

/** \brief Call a function without Python's global lock, so that other Python threads run meanwhile;
 * for functions that take long or wait for another lock */
template<typename Function>
auto released(Function &&function)
{
	const py::gil_scoped_release released;

	return function();
}

/** \return the value of \a result; raises the Python exception if \a result is an error */
template<typename T>
T take(Result<T> result)
{
	if (!result)
		raise(result.error());
	if constexpr (!std::is_void_v<T>)
		return std::move(*result);
}

inline std::span<const std::byte> bytesOf(const py::buffer_info &info)
{
	return { static_cast<const std::byte *>(info.ptr),
		 static_cast<size_t>(info.size * info.itemsize) };
}

inline std::span<const float> floatsOf(const py::buffer_info &info)
{
	return { static_cast<const float *>(info.ptr), static_cast<size_t>(info.size) };
}

/** \brief Issue a Python RuntimeWarning if \a array, the values for \a input, has NaNs or
 * numbers that the input clips (inputNote()) */
void warnOfChanges(const TensorDesc &input, const py::buffer_info &array);

inline ElementOrder orderOf(bool nhwc)
{
	return nhwc ? ElementOrder::Nhwc : ElementOrder::Nchw;
}

/** \brief Contents of an output, which numpy uses without a copy: real numbers in \a numbers, or
 * elements in \a bytes if \a numbers is empty */
struct Memory {
	std::vector<std::byte> bytes;
	std::vector<float> numbers;

	py::buffer_info buffer()
	{
		if (!numbers.empty())
			return py::buffer_info(numbers.data(),
					       static_cast<py::ssize_t>(numbers.size()));
		return py::buffer_info(reinterpret_cast<uint8_t *>(bytes.data()),
				       static_cast<py::ssize_t>(bytes.size()));
	}
};

/** \brief Add to the module: CompileOptions, CompiledModel and the functions that compile */
void addCompiler(py::module_ &module);

/** \brief Add the classes Pool and PoolRun to the module */
void addPools(py::module_ &module);

} /* namespace nvdla::python */
