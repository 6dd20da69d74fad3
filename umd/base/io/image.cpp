/* SPDX-License-Identifier: MIT */
#include <nvdla/image.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>

#include <fmt/core.h>
#include <png.h>
#include <turbojpeg.h>

#include "base/io/guarded.h"
#include "file.h"

namespace nvdla
{

namespace
{

constexpr const char *readingPicture = "read picture";
constexpr uint32_t maxSide = 8192;
/* Largest file in bytes: four for each pixel of the largest picture. PPM needs three of them; the
 * rest is for headers. */
constexpr uint64_t maxPictureBytes = uint64_t{ 4 } * maxSide * maxSide;

tl::unexpected<Error> badPicture(const std::string &name, std::string why)
{
	return fail(ErrorCode::InvalidFile, readingPicture, name, std::move(why));
}

Result<void> checkSides(const std::string &name, uint64_t width, uint64_t height)
{
	if (width >= 1 && width <= maxSide && height >= 1 && height <= maxSide)
		return {};
	return badPicture(name, fmt::format("has {} x {} pixels, each side must be 1 to {}", width,
					    height, maxSide));
}

/* Reads the next number of a PGM or PPM header and removes it from \a text. White space and
 * comments may precede it. */
Result<uint32_t> pnmNumber(std::string_view &text, const std::string &name)
{
	while (!text.empty()) {
		if (text.front() == '#') {
			text.remove_prefix(std::min(text.find('\n'), text.size() - 1));
		} else if (!std::isspace(static_cast<unsigned char>(text.front()))) {
			break;
		}
		text.remove_prefix(1);
	}
	uint32_t number = 0;
	const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	if (error != std::errc())
		return badPicture(name, "the header of the PGM or PPM is damaged");
	text.remove_prefix(static_cast<size_t>(next - text.data()));
	return number;
}

Result<Image> decodePnm(std::string_view text, const std::string &name)
{
	Image image;
	uint32_t numbers[3];

	image.channels = text[1] == '6' ? 3 : 1;
	text.remove_prefix(2);
	for (uint32_t &number : numbers) {
		auto found = pnmNumber(text, name);
		if (!found)
			return forward(found);
		number = *found;
	}
	const auto [width, height, maximum] = numbers;
	if (auto checked = checkSides(name, width, height); !checked)
		return forward(checked);
	if (maximum != 255)
		return fail(ErrorCode::Unsupported, readingPicture, name,
			    fmt::format("largest value {}, only 255 is read", maximum));

	const size_t needed = size_t{ width } * height * image.channels;
	if (text.size() < 1 + needed)
		return badPicture(name, fmt::format("{} bytes of pixels, {} needed",
						    text.empty() ? 0 : text.size() - 1, needed));
	text.remove_prefix(1);
	image.width = width;
	image.height = height;
	image.pixels.assign(text.begin(), text.begin() + static_cast<ptrdiff_t>(needed));
	return image;
}

/* libpng's simplified interface, which reports errors in a message and not by longjmp(). */
class PngImage
{
public:
	PngImage() { png.version = PNG_IMAGE_VERSION; }
	~PngImage() { png_image_free(&png); }
	PngImage(const PngImage &) = delete;
	PngImage &operator=(const PngImage &) = delete;

	png_image png = {};
};

/* Removes each pixel's alpha, its last channel, which image.channels does not count. */
void removeAlpha(Image &image)
{
	const size_t pixels = size_t{ image.width } * image.height;

	for (size_t i = 0; i < pixels; i++)
		std::copy_n(&image.pixels[i * (image.channels + 1)], image.channels,
			    &image.pixels[i * image.channels]);
	image.pixels.resize(pixels * image.channels);
}

Result<Image> decodePng(std::span<const std::byte> bytes, const std::string &name)
{
	PngImage reader;
	Image image;

	if (!png_image_begin_read_from_memory(&reader.png, bytes.data(), bytes.size()))
		return badPicture(name, reader.png.message);
	if (auto checked = checkSides(name, reader.png.width, reader.png.height); !checked)
		return forward(checked);

	/* Without this flag, libpng takes pixels of 16 bits for linear light. */
	reader.png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
	/* Keep the picture's alpha: without it, libpng would blend the colours with a
	 * background. */
	reader.png.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
	image.width = reader.png.width;
	image.height = reader.png.height;
	image.channels = reader.png.format & PNG_FORMAT_FLAG_COLOR ? 3 : 1;
	image.pixels.resize(PNG_IMAGE_SIZE(reader.png));
	if (!png_image_finish_read(&reader.png, nullptr, image.pixels.data(), 0, nullptr))
		return badPicture(name, reader.png.message);
	if (reader.png.format & PNG_FORMAT_FLAG_ALPHA)
		removeAlpha(image);
	return image;
}

struct JpegDestroy {
	void operator()(void *jpeg) const { tjDestroy(jpeg); }
};

Result<Image> decodeJpeg(std::span<const std::byte> bytes, const std::string &name)
{
	const std::unique_ptr<void, JpegDestroy> jpeg(tjInitDecompress());
	const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
	int width = 0;
	int height = 0;
	int subsampling = 0;
	int colours = 0;
	Image image;

	if (!jpeg)
		return fail(ErrorCode::NoMemory, readingPicture, name, tjGetErrorStr2(nullptr));
	if (tjDecompressHeader3(jpeg.get(), data, bytes.size(), &width, &height, &subsampling,
				&colours))
		return badPicture(name, tjGetErrorStr2(jpeg.get()));
	if (auto checked =
		    checkSides(name, static_cast<uint64_t>(width), static_cast<uint64_t>(height));
	    !checked)
		return forward(checked);

	if (colours == TJCS_CMYK || colours == TJCS_YCCK)
		return fail(ErrorCode::Unsupported, readingPicture, name,
			    "is a JPEG in the colours of print (CMYK); convert it to RGB");

	const bool grey = colours == TJCS_GRAY;
	image.width = static_cast<uint32_t>(width);
	image.height = static_cast<uint32_t>(height);
	image.channels = grey ? 1 : 3;
	image.pixels.resize(size_t{ image.width } * image.height * image.channels);
	/* Treat warnings as errors: if the file ends early, the picture is incomplete. */
	if (tjDecompress2(jpeg.get(), data, bytes.size(), image.pixels.data(), width, 0, height,
			  grey ? TJPF_GRAY : TJPF_RGB, TJFLAG_STOPONWARNING))
		return badPicture(name, tjGetErrorStr2(jpeg.get()));
	return image;
}

/* Returns what is to be done with a file that is no picture of a known kind. */
std::string adviceFor(std::string_view text)
{
	const bool isWebP = text.starts_with("RIFF") && text.substr(0, 12).ends_with("WEBP");
	const char *kind = text.starts_with("GIF8") ? "a GIF picture"
			   : text.starts_with("BM") ? "a BMP picture"
			   : isWebP		    ? "a WebP picture"
						    : nullptr;

	if (text.starts_with("PK\x03\x04"))
		return "is a zip archive, such as a .npz file; save each array in a file of its "
		       "own, .npy, with numpy.save()";
	if (kind)
		return fmt::format("is {}; convert it to PNG or JPEG", kind);
	return "is none of binary PGM (P5), PPM (P6), PNG and JPEG; convert it to one of these";
}

} /* namespace */

Result<Image> decodeImage(std::span<const std::byte> bytes, const std::string &name)
{
	return guarded("decode image", [&]() -> Result<Image> {
		constexpr std::string_view png = "\x89PNG\r\n\x1a\n";
		constexpr std::string_view jpeg = "\xff\xd8\xff";
		const std::string_view text(reinterpret_cast<const char *>(bytes.data()),
					    bytes.size());

		if (text.starts_with("P5") || text.starts_with("P6"))
			return decodePnm(text, name);
		if (text.starts_with(png))
			return decodePng(bytes, name);
		if (text.starts_with(jpeg))
			return decodeJpeg(bytes, name);
		return fail(ErrorCode::Unsupported, readingPicture, name, adviceFor(text));
	});
}

Result<Image> readImage(const std::string &path)
{
	return guarded("read image", [&]() -> Result<Image> {
		auto bytes = readWholeFile(path, maxPictureBytes);
		if (!bytes)
			return forward(bytes);
		return decodeImage(*bytes, path);
	});
}

Result<std::vector<std::byte>> encodePng(const Image &image, const std::string &name)
{
	return guarded("encode png", [&]() -> Result<std::vector<std::byte>> {
		PngImage writer;

		if (image.pixels.size() != size_t{ image.width } * image.height * image.channels ||
		    (image.channels != 1 && image.channels != 3))
			return fail(ErrorCode::InvalidArgument, "write PNG", name,
				    fmt::format("{} bytes for {} x {} pixels of {} channels",
						image.pixels.size(), image.width, image.height,
						image.channels));
		writer.png.width = image.width;
		writer.png.height = image.height;
		writer.png.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;

		/* With this flag, files are a quarter larger, but written much faster. */
		writer.png.flags = PNG_IMAGE_FLAG_FAST;

		/* Allocate memory for the largest possible size, because libpng would have to
		 * compress the picture to know the exact one. */
		png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(writer.png);
		std::vector<std::byte> bytes(size);
		if (!png_image_write_to_memory(&writer.png, bytes.data(), &size, 0,
					       image.pixels.data(), 0, nullptr))
			return fail(ErrorCode::Io, "write PNG", name, writer.png.message);
		bytes.resize(size);
		return bytes;
	});
}

Result<void> writePng(const std::string &path, const Image &image)
{
	return guarded("write png", [&]() -> Result<void> {
		auto bytes = encodePng(image, path);
		if (!bytes)
			return forward(bytes);
		return writeWholeFile(path, *bytes);
	});
}

} /* namespace nvdla */
