/* SPDX-License-Identifier: MIT */
#include "jpeg.h"

#include <gtest/gtest.h>
#include <turbojpeg.h>

namespace nvdla::test
{

std::vector<std::byte> encodeJpeg(const Image &image)
{
	unsigned char *out = nullptr;
	unsigned long size = 0;
	tjhandle jpeg = tjInitCompress();
	const bool grey = image.channels == 1;

	EXPECT_EQ(tjCompress2(jpeg, image.pixels.data(), static_cast<int>(image.width), 0,
			      static_cast<int>(image.height),
			      grey		    ? TJPF_GRAY
			      : image.channels == 4 ? TJPF_CMYK
						    : TJPF_RGB,
			      &out, &size, grey ? TJSAMP_GRAY : TJSAMP_444, 100, 0),
		  0);
	const auto *first = reinterpret_cast<const std::byte *>(out);
	std::vector<std::byte> file(first, first + size);
	tjFree(out);
	tjDestroy(jpeg);
	return file;
}

} /* namespace nvdla::test */
