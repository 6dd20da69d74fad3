/* SPDX-License-Identifier: MIT */
/*
 * The server's socket in the file system.
 */
#pragma once

#include <string>

#include <sys/types.h>

#include <tl/expected.hpp>

#include "unique_fd.h"

namespace nvdla::sim::vfiouser
{

/**
 * \brief A listening UNIX socket at a path; the destructor removes the socket file
 *
 * open() replaces the socket of a server that no longer runs. It refuses the path of a running
 * server, or of another file.
 */
class Listener
{
public:
	/** \return the listener, or a sentence that says why the path cannot be used */
	static tl::expected<Listener, std::string> open(const std::string &path);

	Listener(Listener &&other) noexcept = default;
	Listener(const Listener &) = delete;
	Listener &operator=(const Listener &) = delete;
	~Listener();

	int fd() const { return socket_.get(); }
	const std::string &path() const { return path_; }

	/** \return a client's connection; invalid if no client waits */
	UniqueFd accept();

private:
	Listener(UniqueFd socket, std::string path, dev_t device, ino_t inode)
		: socket_(std::move(socket)), path_(std::move(path)), device_(device), inode_(inode)
	{
	}

	UniqueFd socket_;
	std::string path_;
	dev_t device_;
	ino_t inode_;
};

} /* namespace nvdla::sim::vfiouser */
