/* SPDX-License-Identifier: MIT */
#include "generator.h"

namespace nvdla::test
{

std::string shape(const Known &known)
{
	return fmt::format(
		"{} {} {}x{}x{}x{}{}", known.name, dataTypeName(known.type), known.n, known.c,
		known.h, known.w,
		known.format == PixelFormat::Feature ? "" : " " + pixelFormatName(known.format));
}

std::string text(const op::Padding &padding)
{
	return fmt::format("{},{},{},{}", padding.left, padding.right, padding.top, padding.bottom);
}

DataType Generator::anyType()
{
	constexpr DataType types[] = { DataType::Int8, DataType::Int16, DataType::Half };

	const DataType type = types[dice_.pick(0, 2)];
	return core_.has(type) ? type : DataType::Int8;
}

Known Generator::newInput(DataType type, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
	const Known input{ name("in"), type, c, h, w, n };
	Surface surface{ .name = input.name, .type = type, .c = c, .h = h, .w = w, .n = n };

	strides(surface, input);
	case_.graph.input(surface);
	case_.inputs[input.name] = dice_.cube(type, n, c, h, w);
	case_.inputNames.push_back(input.name);
	known_.push_back(input);
	anyHalf_ |= type == DataType::Half;
	return input;
}

Known Generator::imageInput()
{
	PixelFormat format;
	do {
		format = static_cast<PixelFormat>(dice_.pick(0, NVDLA_FORMAT_LAST_PIXEL));
	} while (!core_.has(pixelElementType(*pixelFormatInfo(format))));
	const PixelFormatInfo &info = *pixelFormatInfo(format);
	const bool all = dice_.chance(70);
	const Known input{ name("image"),
			   pixelElementType(info),
			   all ? info.channels : dice_.size(1, info.channels),
			   dice_.size(4, 20),
			   dice_.size(4, 20),
			   1,
			   format };

	case_.graph.input({ .name = input.name,
			    .c = all ? 0 : input.c,
			    .h = input.h,
			    .w = input.w,
			    .format = format });
	Cube cube = dice_.cube(input.type, 1, input.c, input.h, input.w);
	if (info.kind == PixelKind::Packed10) {
		const size_t plane = size_t{ input.h } * input.w;
		for (size_t i = 0; i < cube.values.size(); i++)
			cube.values[i] = dice_.pick(0, i < 3 * plane ? 1023 : 3);
	}
	cube.format = format;
	case_.inputs[input.name] = std::move(cube);
	case_.inputNames.push_back(input.name);
	return dice_.chance(50) ? regionOf(input) : input;
}

Known Generator::regionOf(const Known &image)
{
	const Cube &whole = case_.inputs.at(image.name);
	Known region = image;

	region.name = name("region");
	region.h = dice_.size(1, image.h);
	region.w = dice_.size(1, image.w);
	const uint32_t line = dice_.size(0, image.h - region.h);
	const uint32_t column = dice_.size(0, image.w - region.w);
	case_.graph.surface({ .name = region.name,
			      .h = region.h,
			      .w = region.w,
			      .within = image.name,
			      .atLine = line,
			      .atColumn = column });
	Cube cube = Cube::of(image.type, 1, image.c, region.h, region.w);
	for (uint32_t c = 0; c < image.c; c++)
		for (uint32_t y = 0; y < region.h; y++)
			for (uint32_t x = 0; x < region.w; x++)
				cube.values[cube.index(0, c, y, x)] =
					whole.at(0, c, line + y, column + x);
	cube.format = whole.format;
	/* The reference knows no parts: to it this is another input. */
	case_.inputs[region.name] = std::move(cube);
	case_.description += fmt::format("  {} is {} from line {}, column {} on\n", shape(region),
					 image.name, line, column);
	return region;
}

/* Mostly what was made last, so that graphs get deep. */
Known Generator::choose()
{
	if (known_.empty() || (case_.inputNames.size() < 3 && dice_.chance(15)))
		return newInput(anyType(), 1, dice_.size(1, maxChannels), dice_.size(1, maxSide),
				dice_.size(1, maxSide));
	const size_t last = known_.size() - 1;
	Known chosen = known_[dice_.chance(60) ? last : dice_.size(0, static_cast<uint32_t>(last))];
	/* What is not known exactly is an output: the device's own elements go on. */
	chosen.approximate = false;
	return chosen;
}

void Generator::strides(Surface &surface, const Known &known)
{
	if (!dice_.chance(30) || (known.h == 1 && known.w == 1))
		return;
	const uint32_t unit = known.n > 1 ? 64 : core_.atomBytes;
	const uint32_t line = (known.w * core_.atomBytes + unit - 1) / unit * unit;
	surface.lineStride = line + unit * dice_.size(0, 2);
	surface.surfaceStride = surface.lineStride * known.h + unit * dice_.size(0, 2);
}

void Generator::addSurface(const Known &known)
{
	Surface &surface = surfaces_[known.name];

	surface.name = known.name;
	strides(surface, known);
	known_.push_back(known);
	anyHalf_ |= known.type == DataType::Half;
}

void Generator::add(op::Any operation, std::string text)
{
	case_.description += fmt::format("  {}\n", text);
	case_.graph.add(std::move(operation));
	made_++;
}

bool Generator::addOperation()
{
	const int kind = dice_.pick(0, 99);

	if (kind < 35) {
		if (room() < 2)
			return false;
		if (last_ && case_.inputNames.size() < 4 && dice_.chance(40))
			addSibling();
		else if (case_.inputNames.size() < 4 && dice_.chance(15) &&
			 core_.has(Capability::Winograd))
			addWinograd();
		else if (case_.inputNames.size() < 4 && dice_.chance(15))
			addDeconvolution();
		else
			addConvolution();
	} else if (kind < 57) {
		addSdp();
	} else if (kind < 73) {
		const Known in = choose();
		if (in.n == 1)
			addPooling(in, false);
	} else if (kind < 83) {
		addNormalization();
	} else if (kind < 92 && !hasEngine(NVDLA_OP_RUBIK)) {
		addSdp();
	} else if (kind < 87) {
		if (case_.inputNames.size() < 4)
			addContract();
	} else if (kind < 92) {
		addPlanes();
	} else if (kind < 95) {
		hasEngine(NVDLA_OP_BDMA) ? addCopy() : addSdp();
	} else if (kind < 98) {
		if (room() > 2 && case_.inputNames.size() < 4)
			addParts(anyType(), dice_.size(1, 40), dice_.size(2, 3));
	} else {
		addCpu();
	}
	return true;
}

/*
 * Surfaces that are known within a threshold only are outputs, so that what reads
 * them is computed from what the device has made. The others may be inner ones,
 * which share memory and can be on the chip.
 */
void Generator::choosePlaces()
{
	for (const Known &known : known_) {
		if (case_.inputs.contains(known.name))
			continue;
		const bool inner = consumed_.contains(known.name) && !known.approximate &&
				   (!anyHalf_ || dice_.chance(50));
		if (!inner) {
			case_.graph.output(known.name);
			case_.outputNames.push_back(known.name);
		} else if (core_.hasOnChipMemory && !offChip_.contains(known.name) &&
			   dice_.chance(50)) {
			surfaces_[known.name].place = Place::Sram;
			case_.description += fmt::format("  {} on chip\n", known.name);
		}
	}
}

RandomCase Generator::make()
{
	wanted_ = dice_.size(1, maxOperations);
	case_.options.core = core_;
	case_.options.reuseMemory = dice_.chance(70);
	if (dice_.chance(30))
		case_.options.maxTaskOperations = dice_.size(1, 4);
	while (room() > 0)
		addOperation();
	choosePlaces();
	for (const auto &[name, surface] : surfaces_)
		case_.graph.surface(surface);
	return std::move(case_);
}

RandomCase randomCase(uint32_t seed, const CoreGeometry &core)
{
	return Generator(seed, core).make();
}

} /* namespace nvdla::test */
