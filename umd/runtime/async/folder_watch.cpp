/* SPDX-License-Identifier: MIT */
#include "runtime/async/folder_watch.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>

#include "base/io/guarded.h"

namespace nvdla
{

namespace
{

/*
 * First and longest interval between checks of the folder; each interval is twice as long as the
 * previous one. Checks are repeated because a device file may exist before it can be opened.
 */
constexpr uint64_t firstLookMs = 10;
constexpr uint64_t lastLookMs = 10000;
constexpr const char *watchingFolder = "watch folder";

} /* namespace */

/* State of a watch. Only the loop's thread uses it once create() has posted it, except \a stopped,
 * which the lock guards. */
struct FolderWatch::State : LoopTask, std::enable_shared_from_this<State> {
	State(std::filesystem::path path, List lister, Callback function)
		: folder(std::move(path)), list(std::move(lister)), callback(std::move(function))
	{
	}

	void run() noexcept override;
	Result<void> begin(uv_loop_t *loop);
	int arm();
	void happened(const char *name);
	void update();
	bool settled() const;
	void look(uint64_t delayMs, bool anew) noexcept;
	void lookAgain(uint64_t delayMs);
	bool tell(const std::string &path, bool present);
	void close();

	Loop *starts = nullptr; /* the loop on which run() begins the watch; null afterwards */
	std::promise<Result<void>> begun;
	const std::filesystem::path folder;
	const List list;
	const Callback callback;
	uv_fs_event_t handle;
	uv_timer_t timer;
	uint64_t delay = 0;
	unsigned open = 0; /* number of libuv handles that are not closed */
	std::vector<std::string> known;
	std::shared_ptr<State> self; /* keeps this object alive until both handles are closed */

	std::mutex lock; /* locked while the callback runs */
	std::atomic<bool> stopped = false;
};

/* Called by the loop after each post(): begins to watch and reports the present files, or ends the
 * watch. */
void FolderWatch::State::run() noexcept
{
	if (Loop *const from = std::exchange(starts, nullptr)) {
		auto result = guarded(watchingFolder, [&] { return begin(from->uv()); });
		const bool well = result.has_value();
		begun.set_value(std::move(result));
		if (!well)
			return;
	}
	if (stopped)
		return close();
	look(firstLookMs, false);
}

/* Reports changes of the folder. \a anew: the folder itself appeared or disappeared, so start the
 * watch again. If memory is short, checks again after \a delayMs milliseconds. */
void FolderWatch::State::look(uint64_t delayMs, bool anew) noexcept
{
	const auto keep = shared_from_this();
	const auto looked = guarded(watchingFolder, [&]() -> Result<void> {
		if (anew)
			arm();
		update();
		if (!settled())
			lookAgain(delayMs);
		return {};
	});

	if (!looked)
		lookAgain(delayMs);
}

Result<void> FolderWatch::State::begin(uv_loop_t *loop)
{
	int error = uv_fs_event_init(loop, &handle);

	if (!error) {
		uv_timer_init(loop, &timer);
		timer.data = handle.data = this;
		open = 2;
		self = shared_from_this();
		uv_unref(reinterpret_cast<uv_handle_t *>(&handle));
		uv_unref(reinterpret_cast<uv_handle_t *>(&timer));
		error = arm();
		if (error)
			close();
	}
	if (error)
		return fail(ErrorCode::Io, watchingFolder, folder.string(), uv_strerror(error));
	return {};
}

/* Starts to watch the folder, or its parent as long as the folder does not exist. Returns an error
 * of libuv, or 0. */
int FolderWatch::State::arm()
{
	const auto start = [this](const std::filesystem::path &path) {
		uv_fs_event_stop(&handle);
		return uv_fs_event_start(
			&handle,
			[](uv_fs_event_t *event, const char *name, int, int) {
				static_cast<State *>(event->data)->happened(name);
			},
			path.c_str(), 0);
	};
	int error = start(folder);

	if (error != UV_ENOENT)
		return error;
	error = start(folder.parent_path());
	std::error_code ignored;
	/* The folder may have appeared just before the watch on its parent began. */
	if (!error && std::filesystem::exists(folder, ignored))
		error = start(folder);
	return error == UV_ENOENT ? start(folder.parent_path()) : error;
}

/* Handles an event of libuv. Events of the watched folder itself come under the folder's name. */
void FolderWatch::State::happened(const char *name)
{
	const bool anew = !name || folder.filename() == name;
	std::error_code ignored;

	if (anew || std::filesystem::exists(folder, ignored))
		look(firstLookMs, anew);
}

/* Returns true if the last call of \a list returned all files of the folder: all of them could be
 * opened. */
bool FolderWatch::State::settled() const
{
	std::error_code ignored;

	for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
		if (std::find(known.begin(), known.end(), entry.path().string()) == known.end())
			return false;
	}
	return true;
}

/*
 * Checks the folder again after \a delayMs milliseconds. The kernel creates a device file before it
 * can be opened, and sends no event when the file can be opened. The checks end after some time,
 * because files of another driver can never be opened.
 */
void FolderWatch::State::lookAgain(uint64_t delayMs)
{
	if (stopped || delayMs > lastLookMs)
		return;
	delay = delayMs;
	uv_timer_start(
		&timer,
		[](uv_timer_t *due) {
			State &state = *static_cast<State *>(due->data);
			state.look(2 * state.delay, false);
		},
		delayMs, 0);
}

void FolderWatch::State::update()
{
	const std::vector<std::string> now = list();
	const std::vector<std::string> before = std::exchange(known, now);
	const auto in = [](const std::vector<std::string> &paths, const std::string &path) {
		return std::find(paths.begin(), paths.end(), path) != paths.end();
	};

	for (const std::string &path : before) {
		if (!in(now, path) && !tell(path, false))
			return;
	}
	for (const std::string &path : now) {
		if (!in(before, path) && !tell(path, true))
			return;
	}
}

/* Calls the callback unless the watch was stopped. Returns true if the watch goes on. */
bool FolderWatch::State::tell(const std::string &path, bool present)
{
	const std::lock_guard guard(lock);

	if (!stopped)
		callback(path, present);
	return !stopped;
}

void FolderWatch::State::close()
{
	const auto closed = [](uv_handle_t *one) {
		State &state = *static_cast<State *>(one->data);
		/*
		 * When both handles are closed, the state drops its reference to itself, which may
		 * free it.
		 */
		const auto keep = --state.open ? nullptr : std::move(state.self);
	};

	if (!open || uv_is_closing(reinterpret_cast<uv_handle_t *>(&handle)))
		return;
	uv_close(reinterpret_cast<uv_handle_t *>(&handle), closed);
	uv_close(reinterpret_cast<uv_handle_t *>(&timer), closed);
}

Result<std::unique_ptr<FolderWatch>>
FolderWatch::create(std::shared_ptr<Loop> loop, std::string folder, List list, Callback callback)
{
	return guarded(watchingFolder, [&]() -> Result<std::unique_ptr<FolderWatch>> {
		auto state = std::make_shared<State>(std::move(folder), std::move(list),
						     std::move(callback));
		std::unique_ptr<FolderWatch> watch(new FolderWatch(loop, state));
		Result<void> begun;

		if (loop->inThread() || !loop->hasThread()) {
			begun = state->begin(loop->uv());
			loop->post(state);
		} else {
			auto done = state->begun.get_future();
			state->starts = loop.get();
			loop->post(state);
			begun = done.get();
		}
		if (!begun)
			return forward(begun);
		return watch;
	});
}

FolderWatch::~FolderWatch()
{
	if (loop_->inThread()) {
		state_->stopped = true;
		state_->close();
		return;
	}
	{
		const std::lock_guard guard(state_->lock);
		state_->stopped = true;
	}
	loop_->post(state_);
}

} /* namespace nvdla */
