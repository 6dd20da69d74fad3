/* SPDX-License-Identifier: MIT */
#include "qtest/process.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvdla::sim::qtest
{

Pipe Pipe::make()
{
	int fds[2] = { -1, -1 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return {};
	return { UniqueFd(fds[0]), UniqueFd(fds[1]) };
}

Process::Process(const std::vector<std::string> &arguments, UniqueFd input, UniqueFd output,
		 const std::string &errors)
{
	std::vector<char *> argv;
	for (const std::string &argument : arguments)
		argv.push_back(const_cast<char *>(argument.c_str()));
	argv.push_back(nullptr);

	if (!input.valid())
		input.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
	if (!output.valid())
		output.reset(open("/dev/null", O_WRONLY | O_CLOEXEC));
	const UniqueFd log(open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
	const pid_t parent = getpid();

	pid_ = fork();
	if (pid_ != 0) {
		if (pid_ > 0)
			setpgid(pid_, pid_);
		return;
	}
	/* The child. The parent may have threads: only calls that are safe after fork() follow. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	dup2(input.get(), STDIN_FILENO);
	dup2(output.get(), STDOUT_FILENO);
	dup2(log.get(), STDERR_FILENO);
	execvp(argv[0], argv.data());
	_exit(127);
}

Process::~Process()
{
	if (!started() || status_ >= 0)
		return;
	kill(-pid_, SIGKILL);
	wait();
}

void Process::signal(int number)
{
	if (started() && status_ < 0)
		kill(-pid_, number);
}

/* Take the exit status if there is one; returns true if the process has ended. */
bool Process::collect(int options)
{
	int status;
	while (status_ < 0 && started()) {
		const pid_t pid = waitpid(pid_, &status, options);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return pid < 0;
		status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return true;
}

bool Process::running()
{
	return !collect(WNOHANG);
}

int Process::wait()
{
	collect(0);
	return status_;
}

SimProcess::SimProcess(const std::string &program, const std::string &socket,
		       const std::string &errors, const std::vector<std::string> &options)
{
	std::vector<std::string> arguments = { program, "--socket", socket };
	arguments.insert(arguments.end(), options.begin(), options.end());
	Pipe output = Pipe::make();
	process_ =
		std::make_unique<Process>(arguments, UniqueFd(), std::move(output.write), errors);

	/* Wait for the program's first line, or for its end if it could not start. */
	std::string line;
	char c;
	while (::read(output.read.get(), &c, 1) == 1 && c != '\n')
		line += c;
	listening_ = line == "listening on " + socket;
}

} /* namespace nvdla::sim::qtest */
