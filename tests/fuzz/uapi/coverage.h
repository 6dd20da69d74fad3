/* SPDX-License-Identifier: MIT */
/*
 * Which code of the kernel a thread's system calls reach (KCOV).
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nvdla::fuzz
{

/**
 * \brief What the thread that created the object reaches in the driver
 *
 * Of the kernel's code only the driver's is built to be seen (kmd/Kbuild), and only on a
 * kernel with CONFIG_KCOV (scripts/kernel-debug).
 */
class Coverage
{
public:
	Coverage();
	~Coverage();
	Coverage(const Coverage &) = delete;
	Coverage &operator=(const Coverage &) = delete;

	/** \return whether the kernel has it, and the process may use it */
	bool valid() const { return places_ != nullptr; }

	/** \brief Forget what was reached */
	void begin();
	/** \return addresses of basic blocks that were reached since begin(), in their order, again
	 * and again */
	std::span<const uint64_t> reached() const;

private:
	static constexpr size_t room = 1 << 18;

	int fd_ = -1;
	uint64_t *places_ = nullptr; /**< the first one is how many follow */
};

} /* namespace nvdla::fuzz */
