/* SPDX-License-Identifier: MIT */
#include "tensor_info.h"

#include <array>
#include <optional>

#include <nvdla/core_geometry.h>
#include <nvdla/pixel_format.h>
#include <pybind11/stl.h>

#include "base/tensor/input_note.h"
#include "support.h"

namespace py = pybind11;

namespace nvdla::python
{

namespace
{

/* Returns the name that numpy has for the type of the elements. */
const char *dtypeName(const TensorDesc &desc)
{
	switch (desc.type) {
	case DataType::Int8:
		return desc.isUnsigned ? "uint8" : "int8";
	case DataType::Int16:
		return desc.isUnsigned ? "uint16" : "int16";
	case DataType::Half:
		return "float16";
	case DataType::Int32:
		return "int32";
	case DataType::Int64:
		return "int64";
	case DataType::Bool:
		return "bool";
	case DataType::UInt8:
		return "uint8";
	default:
		return "float32";
	}
}

/*
 * Returns the strides in bytes along n, c, h and w. Returns nothing if no strides describe the
 * layout: the channels are in several planes or atoms (blocks of channels), or in another order.
 */
std::optional<std::array<uint64_t, 4>> plainStrides(const TensorDesc &desc)
{
	const uint64_t element = elementBytes(desc.type);
	const PixelFormatInfo *pixels = pixelFormatInfo(desc.format);
	uint64_t pixel = atomBytes(desc.format);

	if (!pixels) {
		if (!isFeature(desc.format) || desc.c * element > pixel)
			return {};
	} else {
		if (pixels->planes != 1 || pixels->kind == PixelKind::Packed10 ||
		    desc.c > pixels->channels)
			return {};
		for (uint32_t c = 0; c < desc.c; c++) {
			if (pixels->place[c] != c)
				return {};
		}
		pixel = pixels->pixelBytes();
	}
	return std::array<uint64_t, 4>{ desc.size / desc.n, element, desc.lineStride, pixel };
}

} /* namespace */

py::dict tensorInfo(const TensorDesc &desc)
{
	py::list scales;
	py::list zeroPoints;
	py::dict info;

	for (const auto &[scale, zeroPoint] : desc.quantization.values()) {
		scales.append(scale);
		zeroPoints.append(zeroPoint);
	}
	info["name"] = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
		desc.name.data(), static_cast<py::ssize_t>(desc.name.size()), "replace"));
	info["dtype"] = dtypeName(desc);
	info["shape"] = py::make_tuple(desc.n, desc.c, desc.h, desc.w);
	info["signature"] = py::none();
	if (desc.signature) {
		py::list lengths;
		for (const uint32_t length : desc.signature->shape) {
			if (length == openAxis)
				lengths.append(py::none());
			else
				lengths.append(length);
		}
		info["signature"] = py::tuple(lengths);
	}
	info["nhwc"] = desc.order() == ElementOrder::Nhwc;
	info["scales"] = py::tuple(scales);
	info["zero_points"] = py::tuple(zeroPoints);
	info["format"] = pixelFormatName(desc.format);
	info["bytes"] = desc.size;
	info["strides"] = py::none();
	if (const auto strides = plainStrides(desc))
		info["strides"] =
			py::make_tuple((*strides)[0], (*strides)[1], (*strides)[2], (*strides)[3]);
	return info;
}

void warnOfChanges(const TensorDesc &input, const py::buffer_info &array)
{
	const DataType type = array.format == "f"   ? DataType::Float
			      : array.format == "e" ? DataType::Half
						    : DataType::Int8;

	/*
	 * Stack level 3 skips the two Python functions of this package that led here, so the
	 * warning names the line of the application.
	 */
	if (const std::string note = inputNote(input, type, bytesOf(array));
	    !note.empty() && PyErr_WarnEx(PyExc_RuntimeWarning, note.c_str(), 3))
		throw py::error_already_set();
}

py::tuple shapeOf(const TensorDesc &desc)
{
	return py::tuple(
		py::cast(desc.signature ? desc.signature->shape
					: std::vector<uint32_t>{ desc.n, desc.c, desc.h, desc.w }));
}

py::list tensorList(const std::vector<TensorDesc> &descs)
{
	py::list list;

	for (const TensorDesc &desc : descs)
		list.append(tensorInfo(desc));
	return list;
}

py::dict deviceInfo(const DeviceInfo &info)
{
	py::dict dict;

	const CoreGeometry *core = findCoreVariant(info.variant);

	dict["variant"] = core ? core->name : "";
	dict["hw_version"] = info.hwVersion;
	dict["engines"] = info.engines;
	dict["precisions"] = info.precisions;
	dict["atom_bytes"] = info.atomBytes;
	dict["max_timeout_ms"] = info.maxTimeoutMs;
	dict["cvsram_bytes"] = info.onChipBytes;
	dict["max_bo_bytes"] = info.maxBufferBytes;
	dict["features"] = info.features;
	dict["core_clock_hz"] = info.coreClockHz;
	dict["priorities"] = info.priorities;
	dict["capabilities"] = capabilityNames(info.capabilities);
	dict["max_batch"] = info.maxBatch;
	dict["weight_alignment"] = info.weightAlignment;
	dict["weight_size_alignment"] = info.weightSizeAlignment;
	dict["mac_channels"] = info.macChannels;
	dict["int8_kernels"] = info.int8Kernels;
	dict["buffer_banks"] = info.bufferBanks;
	dict["bank_entries"] = info.bankEntries;
	dict["entry_bytes"] = info.entryBytes;
	return dict;
}

} /* namespace nvdla::python */
