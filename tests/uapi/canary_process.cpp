/* SPDX-License-Identifier: MIT */
#include "canary_process.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t canaryBytes = 64 * 1024;
constexpr unsigned int canariesAtATime = 16;
constexpr uint8_t canary = 0xc5;

/* The process's life: an answer for each question, until nobody asks any more. */
void serve(int socket)
{
	const Device device;
	std::vector<std::unique_ptr<Buffer>> buffers;
	char question;
	while (read(socket, &question, 1) == 1) {
		uint32_t answer = 0;
		if (question == 'h') {
			for (unsigned int i = 0; i < canariesAtATime; i++) {
				buffers.push_back(std::make_unique<Buffer>(device, canaryBytes));
				if (!buffers.back()->valid())
					return;
				std::ranges::fill(buffers.back()->bytes(), canary);
			}
			answer = buffers.back()->handle();
		} else {
			answer = std::ranges::all_of(buffers, [](const auto &buffer) {
				return std::ranges::all_of(buffer->bytes(), [](uint8_t byte) {
					return byte == canary;
				});
			});
		}
		if (write(socket, &answer, sizeof(answer)) != sizeof(answer))
			return;
	}
}

} /* namespace */

CanaryProcess::CanaryProcess() : kernelLog_(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC))
{
	int sockets[2];
	if (kernelLog_ >= 0)
		lseek(kernelLog_, 0, SEEK_END);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return;
	child_ = fork();
	if (child_ == 0) {
		close(sockets[0]);
		serve(sockets[1]);
		_exit(0);
	}
	close(sockets[1]);
	socket_ = sockets[0];
}

CanaryProcess::~CanaryProcess()
{
	close(socket_);
	close(kernelLog_);
	if (child_ > 0)
		waitpid(child_, nullptr, 0);
}

uint32_t CanaryProcess::ask(char question)
{
	uint32_t answer = 0;
	if (write(socket_, &question, 1) != 1 ||
	    read(socket_, &answer, sizeof(answer)) != sizeof(answer))
		return 0;
	return answer;
}

bool CanaryProcess::hold()
{
	handle_ = ask('h');
	return handle_ != 0;
}

bool CanaryProcess::intact()
{
	return ask('i') != 0;
}

std::string CanaryProcess::faults() const
{
	std::string found;
	char record[8192];
	/* One record at a time; none is left when that fails. */
	for (ssize_t size; (size = read(kernelLog_, record, sizeof(record))) > 0;) {
		const std::string text(record, static_cast<size_t>(size));
		if (text.find("DMAR:") != std::string::npos)
			found += text;
	}
	return found;
}

} /* namespace nvdla::test */
