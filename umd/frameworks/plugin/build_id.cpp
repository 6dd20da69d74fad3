/* SPDX-License-Identifier: MIT */
#include "build_id.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include <link.h>

namespace nvdla::plugin
{

namespace
{

struct Search {
	uintptr_t inside; /* an address inside the library or program whose note is wanted */
	std::span<const std::byte> found;
};

constexpr size_t aligned(size_t size)
{
	return (size + 3) & ~size_t{ 3 };
}

/* Returns the build ID among the ELF notes of a segment; empty if there is none. A note consists of
 * a header, a name and contents, each of which begins at a multiple of four bytes. */
std::span<const std::byte> findIn(const std::byte *notes, size_t size)
{
	constexpr std::string_view owner("GNU", sizeof("GNU"));
	ElfW(Nhdr) note;

	for (size_t at = 0; at + sizeof(note) <= size;) {
		std::memcpy(&note, notes + at, sizeof(note));
		const std::byte *name = notes + at + sizeof(note);
		const std::byte *contents = name + aligned(note.n_namesz);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == owner.size() &&
		    !std::memcmp(name, owner.data(), owner.size()))
			return { contents, note.n_descsz };
		at += sizeof(note) + aligned(note.n_namesz) + aligned(note.n_descsz);
	}
	return {};
}

int look(dl_phdr_info *object, size_t, void *data)
{
	auto &search = *static_cast<Search *>(data);
	bool isIt = false;

	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) &part = object->dlpi_phdr[i];
		const uintptr_t start = object->dlpi_addr + part.p_vaddr;
		isIt |= part.p_type == PT_LOAD && search.inside >= start &&
			search.inside - start < part.p_memsz;
	}
	for (size_t i = 0; isIt && i < object->dlpi_phnum && search.found.empty(); i++) {
		const ElfW(Phdr) &part = object->dlpi_phdr[i];
		if (part.p_type == PT_NOTE)
			search.found = findIn(reinterpret_cast<const std::byte *>(
						      object->dlpi_addr + part.p_vaddr),
					      part.p_memsz);
	}
	return isIt;
}

} /* namespace */

std::span<const std::byte> buildId()
{
	Search search{ reinterpret_cast<uintptr_t>(&look), {} };

	dl_iterate_phdr(look, &search);
	return search.found;
}

} /* namespace nvdla::plugin */
