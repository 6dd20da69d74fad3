/* SPDX-License-Identifier: MIT */
/*
 * The files that the driver has in sysfs, debugfs and elsewhere.
 */
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>

namespace nvdla::test
{

/** \return the folder of the device behind a node in sysfs, empty if there is none */
std::filesystem::path deviceFolder(const std::filesystem::path &node);
/** \return that of the device under test */
std::filesystem::path deviceFolder();
/** \return its folder in debugfs */
std::filesystem::path debugFolder();

/** \return what is in a file, empty if it cannot be read */
std::string readFile(const std::filesystem::path &path);
/** \return 0 or -errno */
int writeFile(const std::filesystem::path &path, const std::string &text);

/** \return whether the device behind the node sleeps */
bool isAsleep();

/** \brief Changes a setting; it gets its old value back with the object's end */
class Setting
{
public:
	Setting(const std::filesystem::path &path, const std::string &value)
		: path_(path), old_(readFile(path)), done_(writeFile(path, value) == 0)
	{
	}
	~Setting() { writeFile(path_, old_); }
	Setting(const Setting &) = delete;
	Setting &operator=(const Setting &) = delete;

	bool done() const { return done_; }

private:
	std::filesystem::path path_;
	std::string old_;
	bool done_;
};

} /* namespace nvdla::test */
