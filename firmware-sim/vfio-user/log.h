/* SPDX-License-Identifier: MIT */
/*
 * Log of the vfio-user server: notes on itself, its client and the protocol, by level.
 */
#pragma once

#include <functional>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace nvdla::sim::vfiouser
{

enum class LogLevel {
	Error,	 /**< the server or the connection cannot continue */
	Warning, /**< the client or the guest did something wrong */
	Info,	 /**< a client connects or leaves */
	Debug,	 /**< a protocol message that changes state */
	Trace,	 /**< a protocol message of any kind */
};

/**
 * \brief Passes messages up to a level to a function, one at a time
 *
 * May be used from any thread. The text is formatted only if it will be shown.
 */
class Log
{
public:
	using Sink = std::function<void(LogLevel, std::string_view)>;

	Log(LogLevel level, Sink sink) : level_(level), sink_(std::move(sink)) {}

	bool shows(LogLevel level) const { return level <= level_; }

	template<typename... Args>
	void error(fmt::format_string<Args...> format, Args &&...args)
	{
		put(LogLevel::Error, format, std::forward<Args>(args)...);
	}

	template<typename... Args>
	void warning(fmt::format_string<Args...> format, Args &&...args)
	{
		put(LogLevel::Warning, format, std::forward<Args>(args)...);
	}

	template<typename... Args>
	void info(fmt::format_string<Args...> format, Args &&...args)
	{
		put(LogLevel::Info, format, std::forward<Args>(args)...);
	}

	template<typename... Args>
	void debug(fmt::format_string<Args...> format, Args &&...args)
	{
		put(LogLevel::Debug, format, std::forward<Args>(args)...);
	}

	template<typename... Args>
	void trace(fmt::format_string<Args...> format, Args &&...args)
	{
		put(LogLevel::Trace, format, std::forward<Args>(args)...);
	}

private:
	template<typename... Args>
	void put(LogLevel level, fmt::format_string<Args...> format, Args &&...args)
	{
		if (!shows(level))
			return;
		const std::string text = fmt::format(format, std::forward<Args>(args)...);
		const std::lock_guard lock(mutex_);
		sink_(level, text);
	}

	const LogLevel level_;
	std::mutex mutex_;
	const Sink sink_;
};

} /* namespace nvdla::sim::vfiouser */
