/* SPDX-License-Identifier: MIT */
#include "runtime/pool_state.h"

#include <algorithm>

#include <fmt/core.h>

namespace nvdla
{

Pool::State::State(EventLoop loop, const PoolOptions &options)
	: loop_(std::move(loop)), slots_(options.slots), maxPending_(options.maxPending)
{
}

Result<Pool::State::Resident> Pool::State::load(const Device &device,
						const Loadable &loadable) const
{
	auto network = Network::load(device, loadable, { .loop = loop_, .slots = slots_ });
	if (!network)
		return forward(network);
	Resident resident{ std::move(*network), {} };
	for (unsigned i = 0; i < slots_; i++) {
		auto request = Request::create(resident.network);
		if (!request)
			return forward(request);
		resident.idle.push_back(std::make_shared<Request>(std::move(*request)));
	}
	return resident;
}

/* Loaded without the lock: a network that goes again waits for the loop, which may want it. */
Result<size_t> Pool::State::addNetwork(const Loadable &loadable)
{
	const std::lock_guard growing(growing_);
	std::vector<std::optional<Resident>> loaded;
	Described network{ loadable, {}, {} };

	for (Worker &worker : workers_) {
		auto resident = load(worker.device, loadable);
		if (!resident && resident.error().code != ErrorCode::DeviceLost)
			return forward(resident);
		loaded.emplace_back();
		if (!resident)
			continue;
		network.inputs = resident->network.inputs();
		network.outputs = resident->network.outputs();
		loaded.back() = std::move(*resident);
	}

	const std::lock_guard guard(lock_);
	for (size_t i = 0; i < workers_.size(); i++) {
		if (loaded[i])
			workers_[i].residents.push_back(std::move(*loaded[i]));
		else
			workers_[i].use.lost = true;
	}
	if (!anyLeft())
		return fail(ErrorCode::DeviceLost, "load network", "pool", "no device is left");
	networks_.push_back(std::move(network));
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

/* What a device would refuse later is said now. */
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
	{
		std::unique_lock guard(lock_);

		if (auto checked = checkRequest(request); !checked)
			return checked;
		if (pending_ >= maxPending_ &&
		    (request.options.whenFull == WhenFull::Busy || inLoopThread()))
			return fail(ErrorCode::Busy, what, "pool",
				    fmt::format("{} requests are pending already", pending_));
		room_.wait(guard, [this] { return pending_ < maxPending_ || closed_; });
		if (closed_)
			return fail(ErrorCode::Cancelled, what, "pool", "the pool is gone");
		if (!anyLeft())
			return fail(ErrorCode::DeviceLost, what, "pool", "no device is left");
		pending_++;
		auto work = std::make_shared<Work>(Work{ std::move(request), std::move(callback) });
		streams_[work->request.stream].push_back(work);
		waiting_.push_back(std::move(work));
	}
	dispatch();
	return {};
}

/* The device with the fewest requests among those with room. */
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

std::vector<Pool::State::Start> Pool::State::takeStarts()
{
	const std::lock_guard guard(lock_);
	std::vector<Start> starts;

	while (!waiting_.empty() && !closed_) {
		Worker *worker = freest();
		if (!worker)
			break;
		WorkPtr work = std::move(waiting_.front());
		waiting_.pop_front();
		auto &idle = worker->residents[work->request.network].idle;
		starts.push_back({ *worker, std::move(idle.back()), std::move(work) });
		idle.pop_back();
		if (!worker->use.running++)
			worker->busySince = Clock::now();
	}
	return starts;
}

void Pool::State::dispatch()
{
	for (const Start &one : takeStarts())
		start(one);
}

void Pool::State::start(const Start &start)
{
	const PoolRequest &request = start.work->request;
	Result<void> done;

	for (size_t i = 0; i < request.inputs.size() && done; i++)
		done = start.run->setInput(i, request.inputs[i]);
	if (done)
		done = start.run->submit(request.options, [self = shared_from_this(),
							   start](const Result<RunReport> &report) {
			self->done(start, report);
		});
	if (!done)
		settle(start, forward(done));
}

void Pool::State::done(const Start &start, const Result<RunReport> &report)
{
	if (!report)
		return settle(start, tl::unexpected<Error>(report.error()));
	PoolAnswer answer{ {}, 0, *report };
	const size_t outputs = tensors(start.work->request.network, false).size();
	for (size_t i = 0; i < outputs; i++) {
		auto bytes = start.run->output(i);
		if (!bytes)
			return settle(start, forward(bytes));
		answer.outputs.emplace_back(bytes->begin(), bytes->end());
	}
	settle(start, std::move(answer));
}

/* A run has ended: the work is answered, or begins again on another device. */
void Pool::State::settle(const Start &start, Result<PoolAnswer> answer)
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
			waiting_.push_front(start.work);
		} else {
			use.completed += !lost;
			if (answer)
				answer->device = static_cast<size_t>(std::distance(
					workers_.begin(),
					std::find_if(workers_.begin(), workers_.end(),
						     [&](const Worker &worker) {
							     return &worker == &start.worker;
						     })));
			this->answer(start.work, std::move(answer));
		}
		if (closed_)
			answerWaiting({ ErrorCode::Cancelled, what, "pool",
					"while it waited for its turn" });
		else if (!anyLeft())
			answerWaiting({ ErrorCode::DeviceLost, what, "pool", "no device is left" });
	}
	if (lostNow)
		start.worker.device.log(LogLevel::Warning,
					fmt::format("{}: {}: is lost, what it had runs elsewhere",
						    what, start.worker.use.path));
	/* The devices first, then the application. */
	dispatch();
	deliver();
}

/* A worker's slot is free again. */
void Pool::State::leave(const Start &start)
{
	DeviceUse &use = start.worker.use;

	if (start.work->request.network < start.worker.residents.size())
		start.worker.residents[start.work->request.network].idle.push_back(start.run);
	if (!--use.running)
		use.busy += Clock::now() - start.worker.busySince;
}

void Pool::State::answer(const WorkPtr &work, Result<PoolAnswer> answer)
{
	work->answer = std::move(answer);
	const auto stream = streams_.find(work->request.stream);
	std::deque<WorkPtr> &pending = stream->second;
	while (!pending.empty() && pending.front()->answer) {
		ready_.push_back(std::move(pending.front()));
		pending.pop_front();
	}
	if (pending.empty())
		streams_.erase(stream);
}

void Pool::State::answerWaiting(const Error &error)
{
	for (const WorkPtr &work : std::exchange(waiting_, {}))
		answer(work, tl::unexpected<Error>(error));
}

/* One thread calls back at a time, so that streams keep their order. */
void Pool::State::deliver()
{
	std::unique_lock guard(lock_);

	if (std::exchange(delivering_, true))
		return;
	while (!ready_.empty()) {
		const WorkPtr work = std::move(ready_.front());
		ready_.pop_front();
		pending_--;
		room_.notify_all();
		guard.unlock();
		work->callback(std::move(*work->answer));
		guard.lock();
	}
	delivering_ = false;
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

/* Networks cancel what they run; the last one that ends answers what waits. */
void Pool::State::shutDown()
{
	std::vector<std::deque<Resident>> residents;
	const std::lock_guard guard(lock_);

	closed_ = true;
	room_.notify_all();
	for (Worker &worker : workers_)
		residents.push_back(std::exchange(worker.residents, {}));
}

} /* namespace nvdla */
