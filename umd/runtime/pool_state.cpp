/* SPDX-License-Identifier: MIT */
#include "runtime/pool_state.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/io/guarded.h"

namespace nvdla
{

namespace
{

constexpr const char *goneBeforeTurn = "while it waited for its turn";

} /* namespace */

Pool::State::State(EventLoop loop, const PoolOptions &options)
	: loop_(std::move(loop)), slots_(options.slots), maxPending_(options.maxPending)
{
}

Result<std::unique_ptr<Pool::State::Resident>> Pool::State::load(const Device &device,
								 const Loadable &loadable) const
{
	auto network = Network::load(device, loadable, { .loop = loop_, .slots = slots_ });
	if (!network)
		return forward(network);
	std::unique_ptr<Resident> resident(new Resident{ std::move(*network), {} });
	for (unsigned i = 0; i < slots_; i++) {
		auto request = Request::create(resident->network);
		if (!request)
			return forward(request);
		resident->idle.push_back(std::make_shared<Request>(std::move(*request)));
	}
	return resident;
}

/* Loads the network without holding the lock: after an error, networks are destroyed, which waits
 * for the loop, whose callbacks take the lock. */
Result<size_t> Pool::State::addNetwork(const Loadable &loadable)
{
	if (!loadable.states.empty())
		return fail(
			ErrorCode::Unsupported, "load network", "pool",
			"the network keeps numbers from run to run, which the devices of a pool "
			"do not share; load it onto one device, with Network::load()");
	const std::lock_guard growing(growing_);
	std::vector<std::unique_ptr<Resident>> loaded;
	Described network{ loadable, {}, {} };

	for (Worker &worker : workers_) {
		auto resident = load(worker.device, loadable);
		if (!resident && resident.error().code != ErrorCode::DeviceLost)
			return forward(resident);
		if (resident) {
			network.inputs = (*resident)->network.inputs();
			network.outputs = (*resident)->network.outputs();
		}
		loaded.push_back(resident ? std::move(*resident) : nullptr);
	}

	const std::lock_guard guard(lock_);
	/* Reserve memory first, so that a lack of memory cannot leave the network on some of the
	 * devices only. */
	for (Worker &worker : workers_)
		worker.residents.reserve(worker.residents.size() + 1);
	networks_.push_back(std::move(network));
	for (size_t i = 0; i < workers_.size(); i++) {
		workers_[i].use.lost |= !loaded[i];
		workers_[i].residents.push_back(std::move(loaded[i]));
	}
	if (!anyLeft())
		return fail(ErrorCode::DeviceLost, "load network", "pool", "no device is left");
	return networks_.size() - 1;
}

Result<void> Pool::State::addDevice(const Device &device)
{
	const std::lock_guard growing(growing_);
	Worker worker{ device, {}, { .path = device.path() } };

	for (const Described &network : networks_) {
		auto resident = load(device, network.loadable);
		if (!resident)
			return forward(resident);
		worker.residents.push_back(std::move(*resident));
	}
	{
		const std::lock_guard guard(lock_);
		workers_.push_back(std::move(worker));
	}
	dispatch();
	return {};
}

const std::vector<TensorDesc> &Pool::State::tensors(size_t network, bool input) const
{
	static const std::vector<TensorDesc> none;
	const std::lock_guard guard(lock_);

	if (network >= networks_.size())
		return none;
	return input ? networks_[network].inputs : networks_[network].outputs;
}

bool Pool::State::anyLeft() const
{
	return std::any_of(workers_.begin(), workers_.end(),
			   [](const Worker &worker) { return !worker.use.lost; });
}

/* Checks a request at its submission for errors that the network on a device would report only at
 * the start of a run. */
Result<void> Pool::State::checkRequest(const PoolRequest &request) const
{
	if (request.network >= networks_.size())
		return fail(ErrorCode::InvalidArgument, what,
			    fmt::format("network {}", request.network),
			    fmt::format("the pool has {}", networks_.size()));
	const std::vector<TensorDesc> &inputs = networks_[request.network].inputs;
	if (request.inputs.size() != inputs.size())
		return fail(ErrorCode::InvalidArgument, what, "inputs",
			    fmt::format("{} given, the network has {}", request.inputs.size(),
					inputs.size()));
	for (size_t i = 0; i < inputs.size(); i++) {
		if (request.inputs[i].size() != inputs[i].size)
			return fail(ErrorCode::InvalidArgument, what,
				    fmt::format("input {} ({})", i, inputs[i].describe()),
				    fmt::format("{} bytes given, the tensor has {}",
						request.inputs[i].size(), inputs[i].size));
	}
	const auto priority = static_cast<uint32_t>(request.options.priority);
	for (const Worker &worker : workers_) {
		if (request.options.statistics && !worker.device.has(Feature::Statistics))
			return fail(ErrorCode::Unsupported, what, worker.use.path,
				    "the device has no statistics");
		if (request.options.priority != Priority::Normal &&
		    (priority > 31 || !(worker.device.info().priorities >> priority & 1)))
			return fail(ErrorCode::Unsupported, what, worker.use.path,
				    fmt::format("priority {} is not for this process", priority));
	}
	return {};
}

Result<void> Pool::State::submit(PoolRequest request, Callback callback)
{
	auto work = std::make_shared<Work>(Work{ std::move(request), std::move(callback) });
	const RunOptions &options = work->request.options;
	WorkList inStream{ work }, inQueue{ work };
	{
		std::unique_lock guard(lock_);

		if (auto checked = checkRequest(work->request); !checked)
			return checked;
		if (pending_ >= maxPending_ &&
		    (options.whenFull == WhenFull::Busy || inLoopThread()))
			return fail(ErrorCode::Busy, what, "pool",
				    fmt::format("{} requests are pending already", pending_));
		room_.wait(guard, [this] { return pending_ < maxPending_ || closed_; });
		if (closed_)
			return fail(ErrorCode::Cancelled, what, "pool", "the pool is gone");
		if (!anyLeft())
			return fail(ErrorCode::DeviceLost, what, "pool", "no device is left");
		WorkList &stream = streams_[work->request.stream];
		stream.splice(stream.end(), inStream);
		work->place = inQueue.begin();
		WorkList &waiting = waitingLike(*work);
		waiting.splice(waiting.end(), inQueue);
		pending_++;
	}
	dispatch();
	return {};
}

/* Returns the device with the fewest requests among those with a free slot. */
Pool::State::Worker *Pool::State::freest()
{
	Worker *best = nullptr;

	for (Worker &worker : workers_) {
		if (worker.use.lost || worker.use.running >= slots_)
			continue;
		if (!best || worker.use.running < best->use.running)
			best = &worker;
	}
	return best;
}

Pool::State::WorkList &Pool::State::waitingLike(const Work &work)
{
	return waiting_[static_cast<size_t>(work.request.options.priority)];
}

/* Takes the oldest request of the highest priority. */
Pool::State::WorkPtr Pool::State::takeNext()
{
	for (auto waiting = waiting_.rbegin(); waiting != waiting_.rend(); ++waiting) {
		if (waiting->empty())
			continue;
		running_.splice(running_.end(), *waiting, waiting->begin());
		return running_.back();
	}
	return nullptr;
}

std::optional<Pool::State::Start> Pool::State::takeStart()
{
	const std::lock_guard guard(lock_);
	Worker *const worker = closed_ ? nullptr : freest();
	const WorkPtr work = worker ? takeNext() : nullptr;

	dispatching_ = work != nullptr;
	if (!work)
		return {};
	auto &idle = worker->residents[work->request.network]->idle;
	Start start{ *worker, std::move(idle.back()), work };
	idle.pop_back();
	if (!worker->use.running++)
		worker->busySince = Clock::now();
	return start;
}

/*
 * Starts requests on devices. Only one thread does so at a time; other calls return at once, and
 * this thread starts their requests, too. A run may end at once, and its end calls this function.
 */
void Pool::State::dispatch() noexcept
{
	{
		const std::lock_guard guard(lock_);
		if (std::exchange(dispatching_, true))
			return;
	}
	while (const auto one = takeStart()) {
		auto started = guarded(what, [&] { return start(*one); });
		if (!started)
			settle(*one, notStarted(started.error()));
	}
	deliver();
}

/*
 * Returns the answer for a request whose run did not start: \a error, or Cancelled if shutDown()
 * destroyed the network after takeStart() had chosen the request.
 */
Result<PoolAnswer> Pool::State::notStarted(const Error &error) const noexcept
{
	return guarded(what, [&]() -> Result<PoolAnswer> {
		const std::lock_guard guard(lock_);
		if (closed_)
			return fail(ErrorCode::Cancelled, what, "pool", goneBeforeTurn);
		return tl::unexpected<Error>(error);
	});
}

Result<void> Pool::State::start(const Start &start)
{
	const PoolRequest &request = start.work->request;

	for (size_t i = 0; i < request.inputs.size(); i++) {
		if (auto set = start.run->setInput(i, request.inputs[i]); !set)
			return set;
	}
	return start.run->submit(request.options, [self = shared_from_this(),
						   start](const Result<RunReport> &report) {
		self->ended(start, guarded(what, [&] { return self->answerOf(start, report); }));
	});
}

Result<PoolAnswer> Pool::State::answerOf(const Start &start, const Result<RunReport> &report)
{
	if (!report)
		return tl::unexpected<Error>(report.error());
	PoolAnswer answer{ {}, 0, *report, {} };
	const size_t outputs = tensors(start.work->request.network, false).size();
	for (size_t i = 0; i < outputs; i++) {
		auto bytes = start.run->output(i);
		if (!bytes)
			return forward(bytes);
		answer.outputs.emplace_back(bytes->begin(), bytes->end());
		auto desc = start.run->outputDesc(i);
		if (!desc)
			return forward(desc);
		answer.tensors.push_back(std::move(*desc));
	}
	return answer;
}

/* Handles the end of a run. Starts further runs before it calls the application. */
void Pool::State::ended(const Start &start, Result<PoolAnswer> answer) noexcept
{
	settle(start, std::move(answer));
	dispatch();
	deliver();
}

/* Answers the request of a run that has ended, or queues it again for another device. */
void Pool::State::settle(const Start &start, Result<PoolAnswer> answer) noexcept
{
	const bool lost = !answer && answer.error().code == ErrorCode::DeviceLost;
	bool lostNow;
	{
		const std::lock_guard guard(lock_);
		DeviceUse &use = start.worker.use;

		leave(start);
		lostNow = lost && !use.lost;
		use.lost |= lost;
		if (lost && anyLeft() && !closed_) {
			use.moved++;
			WorkList &waiting = waitingLike(*start.work);
			waiting.splice(waiting.begin(), running_, start.work->place);
		} else {
			use.completed += !lost;
			if (answer)
				answer->device = static_cast<size_t>(std::distance(
					workers_.begin(),
					std::find_if(workers_.begin(), workers_.end(),
						     [&](const Worker &worker) {
							     return &worker == &start.worker;
						     })));
			running_.erase(start.work->place);
			this->answer(start.work, std::move(answer));
		}
		if (closed_)
			answerWaiting(ErrorCode::Cancelled, goneBeforeTurn);
		else if (!anyLeft())
			answerWaiting(ErrorCode::DeviceLost, "no device is left");
	}
	if (lostNow)
		static_cast<void>(guarded(what, [&]() -> Result<void> {
			start.worker.device.log(
				LogLevel::Warning,
				fmt::format("{}: {}: is lost, what it had runs elsewhere", what,
					    start.worker.use.path));
			return {};
		}));
}

/* Gives back the slot that a run had on its device. */
void Pool::State::leave(const Start &start)
{
	DeviceUse &use = start.worker.use;

	if (start.work->request.network < start.worker.residents.size())
		start.worker.residents[start.work->request.network]->idle.push_back(start.run);
	if (!--use.running)
		use.busy += Clock::now() - start.worker.busySince;
}

void Pool::State::answer(const WorkPtr &work, Result<PoolAnswer> answer)
{
	work->answer = std::move(answer);
	const auto stream = streams_.find(work->request.stream);
	WorkList &pending = stream->second;
	while (!pending.empty() && pending.front()->answer)
		ready_.splice(ready_.end(), pending, pending.begin());
	if (pending.empty())
		streams_.erase(stream);
}

void Pool::State::answerWaiting(ErrorCode code, const char *why)
{
	for (WorkList &waiting : waiting_) {
		for (const WorkPtr &work : std::exchange(waiting, {}))
			answer(work, guarded(what, [&]() -> Result<PoolAnswer> {
				       return fail(code, what, "pool", why);
			       }));
	}
}

/* Calls the callbacks of answered requests. Only one thread does that at a time, so that streams
 * keep their order. */
void Pool::State::deliver() noexcept
{
	std::unique_lock guard(lock_);

	if (std::exchange(delivering_, true))
		return;
	while (!ready_.empty()) {
		WorkList one;
		one.splice(one.end(), ready_, ready_.begin());
		pending_--;
		room_.notify_all();
		guard.unlock();
		callBack(one.front());
		guard.lock();
	}
	delivering_ = false;
}

/* Calls the application's callback; catches and logs its exceptions. */
void Pool::State::callBack(const WorkPtr &work) noexcept
{
	const auto called = guarded(what, "callback", [&]() -> Result<void> {
		work->callback(std::move(*work->answer));
		return {};
	});

	if (!called)
		static_cast<void>(guarded(what, [&]() -> Result<void> {
			/* addDevice() may add elements meanwhile, which does not move the first. */
			std::unique_lock guard(lock_);
			const Device &device = workers_.front().device;
			guard.unlock();
			device.log(LogLevel::Warning, called.error().message());
			return {};
		}));
}

std::vector<DeviceUse> Pool::State::use() const
{
	const std::lock_guard guard(lock_);
	std::vector<DeviceUse> all;

	for (const Worker &worker : workers_) {
		all.push_back(worker.use);
		if (worker.use.running)
			all.back().busy += Clock::now() - worker.busySince;
	}
	return all;
}

/*
 * Destroys the networks, which cancels their runs. At the end of a run, settle() then cancels the
 * waiting requests.
 */
void Pool::State::shutDown() noexcept
{
	for (size_t i = 0;; i++) {
		/*
		 * Declared before the guard, so that networks are freed after the lock is released:
		 * freeing waits for callbacks, which take the lock.
		 */
		std::vector<std::unique_ptr<Resident>> residents;
		const std::lock_guard guard(lock_);

		closed_ = true;
		room_.notify_all();
		if (i == workers_.size())
			return;
		residents = std::exchange(workers_[i].residents, {});
	}
}

} /* namespace nvdla */
