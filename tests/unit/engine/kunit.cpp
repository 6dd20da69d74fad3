/* SPDX-License-Identifier: MIT */
/*
 * Runs the engine's KUnit tests (kmd/engine/tests) as tests of GoogleTest.
 */
#include "kunit.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace nvdla::test
{

namespace
{

struct Free {
	void operator()(void *memory) const { std::free(memory); }
};

/* Ends a test at once; the tests are C, and have nothing that would have to be destroyed. */
struct Abort {
};

/* A test that runs, and what it has allocated. */
struct Running : kunit {
	std::vector<std::unique_ptr<void, Free>> memory;
	bool reports = true;
};

void run(const kunit_suite &suite, const kunit_case &wanted, bool reports)
{
	Running running;
	running.priv = nullptr;
	running.reports = reports;
	try {
		if (suite.init && suite.init(&running) != 0)
			ADD_FAILURE() << suite.name << " cannot be set up";
		else
			wanted.run_case(&running);
	} catch (const Abort &) {
	}
	if (suite.exit)
		suite.exit(&running);
}

class Case : public testing::Test
{
public:
	Case(const kunit_suite &suite, const kunit_case &wanted) : suite_(suite), case_(wanted) {}

	void TestBody() override { run(suite_, case_, true); }

private:
	const kunit_suite &suite_;
	const kunit_case &case_;
};

std::vector<const kunit_suite *> &suites()
{
	static std::vector<const kunit_suite *> list;
	return list;
}

} /* namespace */

void runKunitQuietly()
{
	for (const kunit_suite *suite : suites())
		for (const kunit_case *one = suite->test_cases; one->name; one++)
			run(*suite, *one, false);
}

} /* namespace nvdla::test */

using namespace nvdla::test;

extern "C" {

void kunit_register(kunit_suite *suite)
{
	suites().push_back(suite);
	for (const kunit_case *one = suite->test_cases; one->name; one++)
		testing::RegisterTest(suite->name, one->name, nullptr, nullptr, __FILE__, __LINE__,
				      [=]() -> testing::Test * { return new Case(*suite, *one); });
}

void *kunit_kcalloc(kunit *test, size_t count, size_t size, gfp_t)
{
	void *memory = std::calloc(count, size);
	static_cast<Running *>(test)->memory.emplace_back(memory);
	return memory;
}

void kunit_fail(kunit *test, const char *file, int line, bool fatal, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	std::vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (static_cast<Running *>(test)->reports)
		ADD_FAILURE_AT(file, line) << text;
	if (fatal)
		throw Abort();
}
}
