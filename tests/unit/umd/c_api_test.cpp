/* SPDX-License-Identifier: MIT */
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "c_api_client.h"
#include "test_support.h"

namespace nvdla
{

TEST(CApi, ApplicationInC)
{
	const auto loadable = test::passLoadable(3, 4).write();
	ASSERT_TRUE(loadable);
	const auto path = std::filesystem::temp_directory_path() /
			  ("c-api-" + std::to_string(getpid()) + ".nvdla");
	std::ofstream(path).write(reinterpret_cast<const char *>(loadable->data()),
				  static_cast<std::streamsize>(loadable->size()));

	EXPECT_EQ(c_api_client(loadable->data(), loadable->size(), path.c_str()), 0)
		<< "line of c_api_client.c";
	std::filesystem::remove(path);
	EXPECT_EQ(c_api_runs(loadable->data(), loadable->size()), 0) << "line of c_api_runs.c";
}

TEST(CApi, ElementsHaveTheModelsOrder)
{
	Loadable model = test::passLoadable(3, 4);

	for (auto &tensor : model.tensors)
		tensor.signature = TensorSignature{ { 1, 4, 3 }, ElementOrder::Nhwc };
	const auto loadable = model.write();
	ASSERT_TRUE(loadable);
	EXPECT_EQ(c_api_model_order(loadable->data(), loadable->size()), 0)
		<< "line of c_api_runs.c";
}

} /* namespace nvdla */
