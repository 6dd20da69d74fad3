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
 * First and longest interval between repeated checks of the folder. Each interval is twice the one
 * before. Checks are repeated because a device file may exist before it can be opened.
 */
constexpr uint64_t firstLookMs = 10;
constexpr uint64_t lastLookMs = 10000;
constexpr const char *watchingFolder = "watch folder";

} /* namespace */

/* Used by the loop's thread only, once create() has posted it; the lock guards \a stopped. */
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

	Loop *starts = nullptr; /* loop to start on; null once the watch has started */
	std::promise<Result<void>> begun;
	const std::filesystem::path folder;
	const List list;
	const Callback callback;
	uv_fs_event_t handle;
	uv_timer_t timer;
	uint64_t delay = 0;
	unsigned open = 0; /* number of libuv handles that are not closed */
	std::vector<std::string> known;
	std::shared_ptr<State> self; /* keeps the object until both handles are closed */

	std::mutex lock; /* locked while the callback runs */
	std::atomic<bool> stopped = false;
};

/* Does pending work: begins to watch, reports present files, or ends. */
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

/* Reports changes of the folder. If there is no memory for that, checks again later. */
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

/* If the folder does not exist, its parent is watched until it does. */
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
	/* The folder may have appeared before its parent was watched. */
	if (!error && std::filesystem::exists(folder, ignored))
		error = start(folder);
	return error == UV_ENOENT ? start(folder.parent_path()) : error;
}

/* libuv reports events of the watched folder itself under the folder's name. */
void FolderWatch::State::happened(const char *name)
{
	const bool anew = !name || folder.filename() == name;
	std::error_code ignored;

	if (anew || std::filesystem::exists(folder, ignored))
		look(firstLookMs, anew);
}

/* Returns true if all files of the folder were usable at the last call of \a list */
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
 * Checks again later. The kernel creates a device file before it can be opened, and sends no event
 * once it can. Checks end after a while, because files of another driver never become usable.
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

/* Returns true if the watch is still wanted */
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
		 * The last of both handles drops the state's reference to itself, which may free
		 * the state.
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
