/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <fmt/core.h>
#include <nvdla/core_geometry.h>

#include "compiler/passes/passes.h"
#include "kernels.h"

namespace nvdla::compiler
{

namespace
{

/* Number of elements of a window, along one axis, that are inside of the picture; at least 1 */
uint32_t inside(uint32_t in, uint32_t window, uint32_t kernel, uint32_t stride, uint32_t before)
{
	const int64_t first = int64_t{ window } * stride - before;
	const int64_t last = std::min<int64_t>(first + kernel, in);

	return static_cast<uint32_t>(std::max<int64_t>(last - std::max<int64_t>(first, 0), 1));
}

/*
 * All channels of a sum over a whole picture take the same kernels. With lines and channel atoms
 * exchanged ("turned"), the core sees lines as channels, and atoms as lines: a single operation
 * sums several atoms, instead of one operation for each atom. Returns the number of atoms that fit
 * the convolution buffer beside the kernels and the mask that compressed kernels have.
 */
uint32_t atomsAtOnce(const CoreGeometry &core, const Cube &in, DataType type)
{
	const uint64_t atom = core.atomChannels(type);
	const uint64_t kernels = atom * core.atomBytes * in.h * in.w;
	const uint64_t banks = kernels / core.bankBytes() + 2;
	const uint64_t line = alignUp(in.h * core.atomBytes, core.entryBytes) * in.w;

	return banks >= core.bufferBanks ? 0
					 : static_cast<uint32_t>((core.bufferBanks - banks) *
								 core.bankBytes() / line);
}

/* Kernel k has ones for channel k of each atom, and zeros elsewhere. */
Kernels turnedOnes(uint32_t atom, const Cube &in)
{
	Kernels kernels = uniformKernels({ atom, atom * in.h, 1, in.w }, 1);

	for (size_t i = 0; i < kernels.elements.size(); i++) {
		const size_t channel = i / in.w % kernels.c, kernel = i / in.w / kernels.c;
		kernels.elements[i] = channel % atom == kernel;
	}
	return kernels;
}

/* \a pass, a sum over a picture, for only \a count channels from \a first on; \a to: its output */
ConvolutionPass someChannels(Lowerer &lowerer, const ConvolutionPass &pass, PartOf to,
			     uint32_t first, uint32_t count, bool turned)
{
	const Cube in = lowerer.cube(pass.input);
	const PartOf from{ .surface = lowerer.surface(pass.input),
			   .channel = first,
			   .turned = turned };
	ConvolutionPass some = pass;

	to.channel += first;
	to.turned = turned;
	some.groups = count;
	some.stride = {};
	some.in = { count, in.h, in.w };
	some.out = { count, 1, 1 };
	some.from = lowerer.part(from, some.in);
	some.to = lowerer.part(to, some.out);
	if (!turned)
		return some;
	const uint32_t atom = lowerer.core().atomChannels(lowerer.storage(pass.input));
	const uint32_t atoms = (count + atom - 1) / atom;
	some.groups = 1;
	some.in = { atom * in.h, atoms, in.w };
	some.out = { atom, atoms, 1 };
	return some;
}

/*
 * Sums with lines and channel atoms exchanged. FP16's last, partial atom is not exchanged: its
 * unused elements might be NaN.
 *
 * \return false if the exchange is impossible, or gains nothing
 */
bool sumTurned(Lowerer &lowerer, const ConvolutionPass &pass)
{
	const Cube in = lowerer.cube(pass.input);
	const DataType type = lowerer.storage(pass.input);
	const uint32_t atom = lowerer.core().atomChannels(type);
	const uint32_t most = atomsAtOnce(lowerer.core(), in, type) * atom;
	const uint32_t turned = type == DataType::Half ? in.c - in.c % atom : in.c;
	PartOf to = lowerer.placeOf(pass.output);

	if (turned <= atom || most == 0 || type != lowerer.storage(pass.output) ||
	    !lowerer.isAligned(to, pass.output))
		return false;
	if (!lowerer.isPlaced(pass.output))
		to.surface = lowerer.write(pass.output, pass.out);
	for (uint32_t c = 0; c < turned; c += most)
		convolve(lowerer, turnedOnes(atom, in),
			 someChannels(lowerer, pass, to, c, std::min(most, turned - c), true));
	if (turned < in.c)
		convolve(lowerer, uniformKernels({ in.c - turned, 1, in.h, in.w }, 1),
			 someChannels(lowerer, pass, to, turned, in.c - turned, false));
	return true;
}

/* Adds sums of windows; an average divides each sum by the number of elements that it counts. */
void sumByConvolution(Lowerer &lowerer, const Operator &operation, const Pool &pool)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Cube in = lowerer.cube(input), out = naturalCube(lowerer.value(output).shape);
	const op::Padding &padding = pool.padding;
	const bool divides = pool.method == Pool::Method::Average;
	const bool alike = !divides || pool.countPadding || isNone(padding);
	ConvolutionPass pass{
		.input = input,
		.output = output,
		.out = out,
		.stride = pool.stride,
		.padding = padding,
		.groups = in.c,
		.activation = pool.activation,
		.factors = {},
		.keepsZero = divides && !pool.ofReals && lowerer.averagesIntegers(input, output),
	};

	if (pass.keepsZero && !pool.countPadding)
		pass.padValue = 0;
	lowerer.needRoom(alike ? 0 : out.elements());
	if (alike) {
		const uint32_t count = divides ? pool.kernel.x * pool.kernel.y : 0;
		pass.firstBits = sumBits(lowerer, input, output, count);
		pass.factors = { 1.0 / std::max(count, 1U) };
		if (pool.isWhole(lowerer.value(input).shape) && sumTurned(lowerer, pass))
			return;
	} else {
		for (uint32_t y = 0; y < out.h; y++) {
			for (uint32_t x = 0; x < out.w; x++)
				pass.factors.push_back(1.0 / (inside(in.h, y, pool.kernel.y,
								     pool.stride.y, padding.top) *
							      inside(in.w, x, pool.kernel.x,
								     pool.stride.x, padding.left)));
		}
	}
	convolve(lowerer, uniformKernels({ in.c, 1, pool.kernel.y, pool.kernel.x }, 1), pass);
}

/* PDP's windows have to cover its whole input: lines and columns beyond them are left out. */
void poolByPdp(Lowerer &lowerer, const Operator &operation, const Pool &pool)
{
	const ValueId input = operation.inputs[0], output = operation.outputs[0];
	const Cube in = lowerer.cube(input), out = naturalCube(lowerer.value(output).shape);
	const auto [y, x] = WindowAxes(lowerer.model(), operation);
	const Cube used{ in.c, std::min(in.h, y.reach()), std::min(in.w, x.reach()) };
	/* If a single position is used, PDP cannot read it from a larger surface. */
	if (isAlone(used, in) && out.h == 1 && out.w == 1) {
		takeSlice(lowerer, operation, { Extents(4, 0), Extents(4, 1) }, pool.activation);
		return;
	}
	lowerer.support(lowerer.storage(input) == DataType::Half ||
				lowerer.quantization(input) == lowerer.quantization(output),
			"quantization",
			"of input and output differ; one element of a window is "
			"taken as it is");
	const std::string name = lowerer.step("pooling");
	const op::Pooling step{
		.name = name,
		.input = used == in ? lowerer.surface(input)
				    : lowerer.part({ lowerer.surface(input), 0, 0, 0 }, used),
		.output = {},
		.method = pool.method == Pool::Method::Max ? op::Pool::Max : op::Pool::Min,
		.kernel = pool.kernel,
		.stride = pool.stride,
		.padding = { x.before, x.behind(), y.before, y.behind() }
	};
	addClamped(lowerer, step, pool.activation,
		   lowerer.writing(lowerer.write(output, out), output), !pool.activation.isNone());
}

} /* namespace */

void lower(Lowerer &lowerer, const Operator &operation, const Pool &pool)
{
	lowerer.makeNatural(operation.inputs[0]);
	if (isExtreme(pool.method)) {
		poolByPdp(lowerer, operation, pool);
		return;
	}
	lowerer.support(pool.kernel.x <= maxKernelSize && pool.kernel.y <= maxKernelSize, "window",
			fmt::format("of {} x {}; {} lines and columns are possible", pool.kernel.y,
				    pool.kernel.x, maxKernelSize));
	sumByConvolution(lowerer, operation, pool);
}

} /* namespace nvdla::compiler */
