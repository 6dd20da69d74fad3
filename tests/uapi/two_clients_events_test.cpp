/* SPDX-License-Identifier: MIT */
/* What can happen to the core between two clients in a system that is awake. */
#include <string>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "device.h"
#include "eventually.h"
#include "pci_function.h"
#include "two_clients.h"

namespace nvdla::test
{

namespace
{

/* No file of any device is open when one of these happens: the node is the same afterwards. */
bool isThere()
{
	return Device().valid();
}

bool rebind()
{
	Unbound unbound;
	return unbound.done() && unbound.bind() && isThere();
}

bool reload()
{
	utsname system;
	/* Fences of the last job keep the module for a moment. */
	const auto unloaded = [] {
		return syscall(SYS_delete_module, "nvdla", O_NONBLOCK) == 0;
	};
	if (uname(&system) || !eventually(unloaded))
		return false;
	const std::string path = "/lib/modules/" + std::string(system.release) + "/nvdla.ko";
	const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	const bool loaded = file >= 0 && syscall(SYS_finit_module, file, "", 0) == 0;
	close(file);
	return loaded && isThere();
}

} /* namespace */

INSTANTIATE_TEST_SUITE_P(Events, TwoClientsAcross,
			 testing::Values(CoreEvent{ "Nothing", [] { return true; } },
					 CoreEvent{ "Reset", [] { return PciFunction().reset(); } },
					 CoreEvent{ "Rebind", rebind },
					 CoreEvent{ "Reload", reload }),
			 [](const auto &info) { return info.param.name; });

} /* namespace nvdla::test */
