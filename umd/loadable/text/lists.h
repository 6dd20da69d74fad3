/* SPDX-License-Identifier: MIT */
/* The lists of a loadable as tables of members, by which their text form is written and read. */
#pragma once

#include <tuple>

#include <nvdla/loadable.h>

#include "names.h"

namespace nvdla::text
{

/** \brief Member of a list's entry */
template<typename T, typename M>
struct Member {
	const char *name;
	M T::*member;
	NameOf nameOf = nullptr; /**< names of the member's values */
};

template<typename T, typename M>
Member(const char *, M T::*, NameOf = nullptr) -> Member<T, M>;

/** \brief Like Member, for a set of bits, each of which has a name */
template<typename T>
struct Bits {
	const char *name;
	uint16_t T::*member;
	NameOf nameOf;
};

template<typename T>
Bits(const char *, uint16_t T::*, NameOf) -> Bits<T>;

/** \brief Like Member, for a list, text or std::optional that is left out if it is empty */
template<typename T, typename M>
struct Optional {
	const char *name;
	M T::*member;
};

template<typename T, typename M>
Optional(const char *, M T::*) -> Optional<T, M>;

/** \brief The members of a type, as a tuple */
template<typename T>
constexpr auto members = std::tuple<>{};

template<>
inline constexpr auto members<MemoryContent> =
	std::tuple{ Member{ "blob", &MemoryContent::blob },
		    Member{ "offset", &MemoryContent::offset } };

template<>
inline constexpr auto members<Memory> = std::tuple{
	Member{ "id", &Memory::id },
	Member{ "domain", &Memory::domain, domainName },
	Bits{ "flags", &Memory::flags, memoryFlagName },
	Member{ "size", &Memory::size },
	Member{ "alignment", &Memory::alignment },
	Member{ "contents", &Memory::contents },
	Member{ "bind_id", &Memory::bindId },
	Member{ "tensor_desc_id", &Memory::tensorDescId },
};

template<>
inline constexpr auto members<Address> = std::tuple{
	Member{ "id", &Address::id },
	Member{ "mem_id", &Address::memId },
	Member{ "offset", &Address::offset },
	Member{ "size", &Address::size },
};

template<>
inline constexpr auto members<Event> = std::tuple{
	Member{ "id", &Event::id },
	Member{ "type", &Event::type },
	Member{ "target", &Event::target },
	Member{ "val", &Event::val },
	Member{ "op", &Event::op, eventOpName },
};

template<>
inline constexpr auto members<Task> = std::tuple{
	Member{ "id", &Task::id },
	Member{ "interface", &Task::interface, interfaceName },
	Member{ "instance", &Task::instance },
	Member{ "address_list", &Task::addressList },
	Member{ "pre_actions", &Task::preActions },
	Member{ "post_actions", &Task::postActions },
	Optional{ "layers", &Task::layers },
	Optional{ "model", &Task::model },
	Optional{ "inputs", &Task::inputs },
	Optional{ "outputs", &Task::outputs },
	Optional{ "reasons", &Task::reasons },
};

template<>
inline constexpr auto members<Submit> = std::tuple{
	Member{ "id", &Submit::id },
	Member{ "task_id", &Submit::taskIds },
};

template<>
inline constexpr auto members<PixelScaling> = std::tuple{
	Member{ "mean", &PixelScaling::mean },
	Member{ "normalize", &PixelScaling::normalize },
};

template<>
inline constexpr auto members<TensorSignature> = std::tuple{
	Member{ "shape", &TensorSignature::shape },
	Member{ "order", &TensorSignature::order, elementOrderName },
	Member{ "is_8_bits", &TensorSignature::is8Bits },
	Optional{ "pixels", &TensorSignature::pixels },
};

template<>
inline constexpr auto members<TensorEntry> = std::tuple{
	Member{ "name", &TensorEntry::name },
	Member{ "id", &TensorEntry::id },
	Member{ "mem_id", &TensorEntry::memId },
	Member{ "size", &TensorEntry::size },
	Member{ "offset", &TensorEntry::offset },
	Member{ "data_format", &TensorEntry::dataFormat, tensorFormatName },
	Member{ "data_type", &TensorEntry::dataType, elementTypeName },
	Member{ "data_category", &TensorEntry::dataCategory, categoryName },
	Member{ "pixel_format", &TensorEntry::pixelFormat, formatName },
	Member{ "pixel_mapping", &TensorEntry::pixelMapping },
	Member{ "n", &TensorEntry::n },
	Member{ "c", &TensorEntry::c },
	Member{ "h", &TensorEntry::h },
	Member{ "w", &TensorEntry::w },
	Member{ "stride", &TensorEntry::stride },
	Optional{ "scale", &TensorEntry::scale },
	Optional{ "zero_point", &TensorEntry::zeroPoint },
	Optional{ "signature", &TensorEntry::signature },
};

template<>
inline constexpr auto members<Reloc> = std::tuple{
	Member{ "address_id", &Reloc::addressId },
	Member{ "write_id", &Reloc::writeId },
	Member{ "offset", &Reloc::offset },
	Member{ "interface", &Reloc::interface, interfaceName },
	Member{ "sub_interface", &Reloc::subInterface },
	Member{ "reloc_type", &Reloc::type, relocTypeName },
};

template<>
inline constexpr auto members<StateEntry> = std::tuple{
	Member{ "before", &StateEntry::before },
	Member{ "after", &StateEntry::after },
};

/** \brief Members of a blob, without its bytes */
template<>
inline constexpr auto members<Blob> = std::tuple{
	Member{ "name", &Blob::name },
	Member{ "interface", &Blob::interface, interfaceName },
	Member{ "sub_interface", &Blob::subInterface },
	Member{ "version", &Blob::version },
};

/** \brief Members of a loadable, without its blobs */
template<>
inline constexpr auto members<Loadable> = std::tuple{
	Member{ "version", &Loadable::version },
	Optional{ "variant", &Loadable::variant },
	Member{ "submit_list", &Loadable::submits },
	Member{ "task_list", &Loadable::tasks },
	Member{ "event_list", &Loadable::events },
	Member{ "tensor_desc_list", &Loadable::tensors },
	Member{ "memory_list", &Loadable::memories },
	Member{ "address_list", &Loadable::addresses },
	Member{ "reloc_list", &Loadable::relocs },
	Optional{ "state_list", &Loadable::states },
};

} /* namespace nvdla::text */
