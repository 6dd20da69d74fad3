/* SPDX-License-Identifier: MIT */
/*
 * Says what is in a picture: classify NETWORK.nvdla PICTURE [DEVICE]
 */
#include <algorithm>
#include <cstdio>

#include <nvdla/image.h>
#include <nvdla/network.h>

static nvdla::Result<size_t> classify(const char *network, const char *picture, const char *path)
{
	const auto loadable = nvdla::Loadable::readFile(network);
	if (!loadable)
		return tl::unexpected(loadable.error());
	const auto device = nvdla::Device::open(path);
	if (!device)
		return tl::unexpected(device.error());
	auto resident = nvdla::Network::load(*device, *loadable);
	if (!resident)
		return tl::unexpected(resident.error());

	const nvdla::TensorDesc &input = resident->inputs().at(0);
	const auto elements = nvdla::readImage(picture).and_then(
		[&](const auto &image) { return nvdla::elementsFromImage(input, image); });
	if (!elements)
		return tl::unexpected(elements.error());
	const auto scores = resident->setInputElements(0, *elements)
				    .and_then([&] { return resident->run(); })
				    .and_then([&](const auto &) { return resident->outputFloat(0); });
	if (!scores)
		return tl::unexpected(scores.error());
	return std::max_element(scores->begin(), scores->end()) - scores->begin();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return std::fprintf(stderr, "usage: classify NETWORK PICTURE [DEVICE]\n"), 2;
	const auto best = classify(argv[1], argv[2], argc > 3 ? argv[3] : "embedded");
	if (!best)
		return std::fprintf(stderr, "%s\n", best.error().message().c_str()), 1;
	std::printf("%zu\n", *best);
}
