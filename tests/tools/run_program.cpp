/* SPDX-License-Identifier: MIT */
#include "run_program.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_support.h"

namespace nvdla::test
{

namespace
{

constexpr unsigned longestSeconds = 300;
constexpr const char *printedName = "printed.txt";
constexpr const char *errorsName = "errors.txt";

std::string textOf(const std::filesystem::path &path)
{
	std::ostringstream text;
	text << std::ifstream(path).rdbuf();
	return text.str();
}

bool redirect(const char *name, int fd)
{
	const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return file >= 0 && dup2(file, fd) >= 0;
}

/* What the child does after fork(); the alarm stays with the program. */
[[noreturn]] void become(const char *folder, const std::vector<char *> &words)
{
	if (!chdir(folder) && redirect(printedName, STDOUT_FILENO) &&
	    redirect(errorsName, STDERR_FILENO)) {
		alarm(longestSeconds);
		execvp(words[0], words.data());
	}
	_exit(127);
}

} /* namespace */

WorkFolder::WorkFolder()
{
	std::string name = testing::TempDir() + "nvdla-run-XXXXXX";

	EXPECT_NE(mkdtemp(name.data()), nullptr);
	path_ = name;
}

WorkFolder::~WorkFolder()
{
	std::error_code error;
	std::filesystem::remove_all(path_, error);
}

std::filesystem::path WorkFolder::write(const std::string &name,
					std::span<const std::byte> bytes) const
{
	std::ofstream file(path_ / name, std::ios::binary);

	file.write(reinterpret_cast<const char *>(bytes.data()),
		   static_cast<std::streamsize>(bytes.size()));
	EXPECT_TRUE(file.flush());
	return path_ / name;
}

ProgramResult WorkFolder::run(std::vector<std::string> arguments) const
{
	const char *program = std::getenv("NVDLA_RUN");
	arguments.insert(arguments.begin(),
			 { program ? program : "nvdla-run", "--device", devicePath() });
	std::vector<char *> words;
	for (std::string &argument : arguments)
		words.push_back(argument.data());
	words.push_back(nullptr);

	const pid_t child = fork();
	if (!child)
		become(path_.c_str(), words);
	int status = 0;
	EXPECT_EQ(waitpid(child, &status, 0), child);
	return { WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
		 textOf(path_ / printedName), textOf(path_ / errorsName) };
}

} /* namespace nvdla::test */
