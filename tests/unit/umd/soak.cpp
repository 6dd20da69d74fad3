/* SPDX-License-Identifier: MIT */
/*
 * umd-soak [REQUESTS]: many small requests, whose memory has to stay what it was.
 */
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <unistd.h>

#include <fmt/format.h>
#include <nvdla/network.h>

#include "test_support.h"

namespace
{

using namespace nvdla;

constexpr unsigned inFlight = 64;
/* Allocators keep some pages for later. */
constexpr long toleratedBytes = 4 << 20;

long residentBytes()
{
	std::ifstream statm("/proc/self/statm");
	long size = 0;
	long resident = 0;

	statm >> size >> resident;
	return resident * sysconf(_SC_PAGESIZE);
}

/* Keeps a number of requests in flight until all have been run. */
class Soak
{
public:
	Soak(const Network &network, unsigned long total) : left_(total)
	{
		for (unsigned i = 0; i < inFlight; i++)
			requests_.push_back(Request::create(network).value());
	}

	/** \return runs that failed */
	unsigned long run()
	{
		for (Request &request : requests_)
			next(request);
		finished_.get_future().wait();
		return failed_;
	}

private:
	/* First from the caller's thread, then from callbacks. */
	void next(Request &request)
	{
		if (left_.fetch_sub(1) <= 0) {
			if (++idle_ == inFlight)
				finished_.set_value();
			return;
		}
		auto submitted = request.submit({}, [this, &request](const auto &result) {
			failed_ += result ? 0 : 1;
			next(request);
		});
		if (!submitted)
			std::abort();
	}

	std::vector<Request> requests_;
	std::atomic<long> left_;
	std::atomic<unsigned> idle_ = 0;
	std::atomic<unsigned long> failed_ = 0;
	std::promise<void> finished_;
};

} /* namespace */

int main(int argc, char **argv)
{
	const unsigned long total = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20000;
	auto device = Device::open(Device::embeddedPath);
	auto network = Network::load(device.value(), test::passLoadable(32, 4)).value();

	unsigned long failed = Soak(network, total / 10).run();
	const long before = residentBytes();
	const auto start = std::chrono::steady_clock::now();
	failed += Soak(network, total).run();
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
	const long grown = residentBytes() - before;

	fmt::print("{} requests, {} failed, {:.0f} per second, memory {:+} KiB\n", total, failed,
		   static_cast<double>(total) / took.count(), grown / 1024);
	return failed || grown > toleratedBytes;
}
