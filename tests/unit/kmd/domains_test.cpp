/* SPDX-License-Identifier: MIT */
/*
 * What the core reaches for a client behind an IOMMU, whenever it was mapped.
 */
#include <cerrno>
#include <memory>

#include <gtest/gtest.h>

#include "domains.h"

namespace nvdla::test
{

namespace
{

constexpr unsigned int client = 0, otherClient = 1;
constexpr uint64_t page = 4096, address = 8 * page;
constexpr uint32_t pages = 3;

struct DomainsDeleter {
	void operator()(domains *core) const { domains_destroy(core); }
};

struct BufferDeleter {
	void operator()(nvdla_bo *bo) const { domains_bo_free(bo); }
};

class DomainsTest : public testing::Test
{
protected:
	/* Pages around the buffer that the core reaches. */
	unsigned int reached() const
	{
		unsigned int count = 0;
		for (uint64_t at = address - page; at <= address + pages * page; at += page)
			count += domains_reaches(core_.get(), at);
		return count;
	}
	int map(unsigned int of) { return domains_map(core_.get(), of, buffer_.get()); }
	int go(unsigned int to) { return domains_go(core_.get(), to); }

	std::unique_ptr<domains, DomainsDeleter> core_{ domains_create() };
	std::unique_ptr<nvdla_bo, BufferDeleter> buffer_{ domains_bo(core_.get(), address, pages) };
};

} /* namespace */

TEST_F(DomainsTest, AClientReachesWhatItHas)
{
	ASSERT_EQ(map(client), 0);
	EXPECT_EQ(reached(), 0u);
	ASSERT_EQ(go(client), 0);
	EXPECT_EQ(reached(), pages);
	ASSERT_EQ(go(otherClient), 0);
	EXPECT_EQ(reached(), 0u);
	ASSERT_EQ(map(otherClient), 0);
	EXPECT_EQ(reached(), pages);

	domains_unmap(core_.get(), otherClient, buffer_.get());
	EXPECT_EQ(reached(), 0u);
	ASSERT_EQ(go(client), 0);
	EXPECT_EQ(reached(), pages);
}

/* Whoever maps waits for memory, and for nobody that the core's way to a domain depends on. */
TEST_F(DomainsTest, WhatIsMappedWhileTheCoreComesIsReached)
{
	for (const unsigned int times : { 1u, 2u, 5u }) {
		domains_overtake(core_.get(), times);
		ASSERT_EQ(map(otherClient), 0);
		ASSERT_EQ(go(otherClient), 0);
		EXPECT_EQ(reached(), pages) << "overtaken " << times << " times";

		domains_unmap(core_.get(), otherClient, buffer_.get());
		EXPECT_EQ(reached(), 0u);
		ASSERT_EQ(go(client), 0);
	}
}

TEST_F(DomainsTest, ADomainThatTheCoreDoesNotReachIsSaidOnce)
{
	ASSERT_EQ(map(client), 0);
	domains_fail(core_.get(), 1);
	EXPECT_EQ(go(client), -ENOMEM);
	EXPECT_EQ(reached(), 0u);
	EXPECT_EQ(go(client), 0);
	EXPECT_EQ(reached(), pages);
}

TEST_F(DomainsTest, AFaultIsOfTheClientWhoseDomainItIs)
{
	ASSERT_EQ(go(client), 0);
	domains_fault(core_.get(), client);
	EXPECT_TRUE(domains_has_faulted(core_.get()));

	/* The job of another client waits for its domain, and has done nothing. */
	domains_call(core_.get(), otherClient);
	EXPECT_FALSE(domains_has_faulted(core_.get()));
	domains_fault(core_.get(), client);
	EXPECT_FALSE(domains_has_faulted(core_.get()));
	ASSERT_EQ(go(otherClient), 0);
	EXPECT_FALSE(domains_has_faulted(core_.get()));
	domains_fault(core_.get(), otherClient);
	EXPECT_TRUE(domains_has_faulted(core_.get()));
	ASSERT_EQ(go(client), 0);
	EXPECT_FALSE(domains_has_faulted(core_.get()));
}

} /* namespace nvdla::test */
