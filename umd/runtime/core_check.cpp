/* SPDX-License-Identifier: MIT */
#include "runtime/core_check.h"

#include <algorithm>
#include <optional>
#include <span>

#include <fmt/core.h>

#include "device/embedded/task_rules.h"

namespace nvdla
{

namespace
{

constexpr const char *loading = "load network";

std::string nameOf(const Device &device)
{
	const uint32_t variant = device.info().variant;

	return variant < NVDLA_NUM_VARIANTS ? nvdla_variants[variant].name
					    : fmt::format("variant {}", variant);
}

/* Returns an input, output or state that the core accesses and whose atoms have another size than
 * \a atomBytes; nothing if there is none. */
std::optional<TensorDesc> tensorOfOthers(uint32_t atomBytes, const Program &program)
{
	const MemoryIds ofCore = program.coreMemories();

	for (TensorDesc &desc : program.tensors()) {
		if (isFeature(desc.format) && ofCore.contains(desc.memory) &&
		    nvdla::atomBytes(desc.format) != atomBytes)
			return std::move(desc);
	}
	return std::nullopt;
}

/* Returns whether surfaces that the core accesses have atoms of its size: 8 bytes for small cores,
 * 32 for others. Tensors that only the CPU accesses may have atoms of any size. */
bool hasAtomsOf(uint32_t atomBytes, const Program &program)
{
	const MemoryIds ofCore = program.coreMemories();

	if (tensorOfOthers(atomBytes, program))
		return false;
	for (const AnyTask &any : program.tasks) {
		const auto *task = std::get_if<EmuTask>(&any);
		for (const EmuOperation &operation :
		     task ? std::span(task->operations) : std::span<const EmuOperation>()) {
			for (const EmuBuffer *cube : { &operation.src, &operation.dst }) {
				if (nvdla::atomBytes(cube->format) != atomBytes &&
				    ofCore.contains(task->addresses[cube->address].memory))
					return false;
			}
		}
	}
	return true;
}

bool isFor(const nvdla_variant &variant, const Program &program)
{
	return hasAtomsOf(variant.atom_bytes, program) &&
	       std::ranges::all_of(program.tasks, [&](const AnyTask &any) {
		       const auto *task = std::get_if<DlaTask>(&any);
		       return !task || canRun(variant, *task);
	       });
}

/* Returns the first core whose rules the network fulfils, because files of other compilers do not
 * name their core. */
const nvdla_variant *findCoreOf(const Program &program)
{
	const auto found = std::ranges::find_if(nvdla_variants, [&](const nvdla_variant &variant) {
		return isFor(variant, program);
	});

	return found == std::end(nvdla_variants) ? nullptr : &*found;
}

std::string remedyFor(std::string_view name)
{
	return fmt::format("open an {} device: --device {}", name,
			   name == nvdla_variant_nv_full()->name
				   ? Device::embeddedPath
				   : fmt::format("{}:{}", Device::embeddedPath, name));
}

/* Makes the error for a network that is for another core. \a core: name of that core. */
Error wrongCore(const Device &device, std::string_view core)
{
	const std::string own = nameOf(device);
	const bool isKnown = std::ranges::any_of(
		nvdla_variants, [&](const nvdla_variant &variant) { return core == variant.name; });

	return { ErrorCode::Unsupported, loading, "",
		 fmt::format("the network is for {}, but the device '{}' is {}: compile the model "
			     "for {}{}",
			     core, device.path(), own, own,
			     isKnown ? ", or " + remedyFor(core) : "") };
}

} /* namespace */

Result<void> checkCore(const Device &device, const Loadable &loadable, const Program &program)
{
	const std::string name = nameOf(device);

	if (loadable.variant == name ||
	    (loadable.variant.empty() && hasAtomsOf(device.info().atomBytes, program)))
		return {};
	if (loadable.variant.empty()) {
		const uint32_t own = device.info().atomBytes;
		const auto other =
			std::ranges::find_if(nvdla_variants, [&](const nvdla_variant &variant) {
				return variant.atom_bytes != own;
			});
		const auto tensor = tensorOfOthers(own, program);
		return tl::unexpected(explainRefusal(
			device, loadable, program,
			{ ErrorCode::Unsupported, loading,
			  tensor ? "tensor " + tensor->describe() : device.path(),
			  fmt::format("has atoms of {} bytes, as on {}, but the device '{}' is {}, "
				      "whose atoms have {} bytes: {}",
				      other->atom_bytes, other->name, device.path(), name, own,
				      remedyFor(other->name)) }));
	}
	return tl::unexpected(wrongCore(device, loadable.variant));
}

Error explainRefusal(const Device &device, const Loadable &loadable, const Program &program,
		     const Error &refusal)
{
	const nvdla_variant *core = loadable.variant.empty() ? findCoreOf(program) : nullptr;

	if (!core || core->id == device.info().variant)
		return refusal;
	return wrongCore(device, core->name);
}

} /* namespace nvdla */
