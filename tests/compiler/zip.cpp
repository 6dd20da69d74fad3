/* SPDX-License-Identifier: MIT */
#include "zip.h"

#include <cstdint>

#include <zlib.h>

namespace nvdla::test
{

namespace
{

/* Little endian; 0 beyond the end. */
uint32_t number(const std::string &bytes, size_t at, size_t size)
{
	uint32_t value = 0;

	for (size_t i = 0; i < size && at + i < bytes.size(); i++)
		value |= uint32_t{ static_cast<uint8_t>(bytes[at + i]) } << (8 * i);
	return value;
}

/* Deflated bytes without zlib's own header. */
std::string inflated(const std::string &bytes, size_t size)
{
	std::string result(size, 0);
	z_stream stream = {};

	stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
	stream.avail_in = static_cast<uInt>(bytes.size());
	stream.next_out = reinterpret_cast<Bytef *>(result.data());
	stream.avail_out = static_cast<uInt>(size);
	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return {};
	const bool all = inflate(&stream, Z_FINISH) == Z_STREAM_END;
	inflateEnd(&stream);
	return all ? result : std::string{};
}

} /* namespace */

std::map<std::string, std::string> unpackZip(const std::string &archive)
{
	constexpr size_t endSize = 22, entrySize = 46, localSize = 30;
	constexpr uint32_t deflated = 8;
	std::map<std::string, std::string> files;

	if (archive.size() < endSize)
		return files;
	/* Archives of numpy have no comment, so the end of the directory is the file's. */
	const size_t end = archive.size() - endSize;
	size_t at = number(archive, end + 16, 4);
	for (uint32_t left = number(archive, end + 10, 2); left && at < end; left--) {
		const size_t name = number(archive, at + 28, 2);
		const size_t local = number(archive, at + 42, 4);
		const size_t data = local + localSize + number(archive, local + 26, 2) +
				    number(archive, local + 28, 2);
		if (data < archive.size()) {
			const std::string packed =
				archive.substr(data, number(archive, at + 20, 4));
			files[archive.substr(at + entrySize, name)] =
				number(archive, at + 10, 2) == deflated
					? inflated(packed, number(archive, at + 24, 4))
					: packed;
		}
		at += entrySize + name + number(archive, at + 30, 2) + number(archive, at + 32, 2);
	}
	return files;
}

} /* namespace nvdla::test */
