/* SPDX-License-Identifier: MIT */
#include "job_queue.h"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <tuple>

namespace nvdla
{

std::vector<nvdla_task *> EmbeddedJob::taskPointers() const
{
	std::vector<nvdla_task *> pointers(tasks.size());

	std::transform(tasks.begin(), tasks.end(), pointers.begin(),
		       [](const EngineTask &task) { return task.get(); });
	return pointers;
}

tl::expected<uint32_t, int> JobQueue::createContext(uint32_t priority)
{
	const auto live = std::count_if(contexts_.begin(), contexts_.end(),
					[](const auto &entry) { return !entry.second.destroyed; });

	if (priority > DRM_NVDLA_PRIORITY_HIGH)
		return tl::unexpected(-EINVAL);
	/* The context that every open file has does not count, so one more than maxContexts may
	 * exist. */
	if (live > maxContexts)
		return tl::unexpected(-ENOSPC);
	while (contexts_.contains(nextContext_) || nextContext_ == ownContext)
		nextContext_++;
	contexts_[nextContext_].priority = priority;
	return nextContext_++;
}

bool JobQueue::contains(uint32_t context) const
{
	const auto entry = contexts_.find(context);
	return entry != contexts_.end() && !entry->second.destroyed;
}

int JobQueue::destroyContext(uint32_t context)
{
	if (context == ownContext || !contains(context))
		return -ENOENT;
	const auto entry = contexts_.find(context);
	entry->second.destroyed = true;
	if (entry->second.jobs.empty())
		contexts_.erase(entry);
	return 0;
}

void JobQueue::push(uint32_t context, std::unique_ptr<EmbeddedJob> job)
{
	job->sequence = nextSequence_++;
	contexts_[context].jobs.push_back(std::move(job));
}

std::unique_ptr<EmbeddedJob> JobQueue::pop()
{
	auto best = contexts_.end();
	/* Jobs of higher priority come first, and among them the oldest. */
	auto before = [](const Context &a, const Context &b) {
		return std::make_tuple(b.priority, a.jobs.front()->sequence) <
		       std::make_tuple(a.priority, b.jobs.front()->sequence);
	};

	for (auto entry = contexts_.begin(); entry != contexts_.end(); ++entry) {
		const Context &context = entry->second;
		if (context.jobs.empty())
			continue;
		const auto &dependencies = context.jobs.front()->dependencies;
		if (std::all_of(dependencies.begin(), dependencies.end(),
				[](const auto &fence) { return fence->done(); }) &&
		    (best == contexts_.end() || before(context, best->second)))
			best = entry;
	}
	if (best == contexts_.end())
		return nullptr;

	auto job = std::move(best->second.jobs.front());
	best->second.jobs.pop_front();
	if (best->second.destroyed && best->second.jobs.empty())
		contexts_.erase(best);
	return job;
}

size_t JobQueue::size() const
{
	return std::accumulate(contexts_.begin(), contexts_.end(), size_t{ 0 },
			       [](size_t sum, const auto &entry) {
				       return sum + entry.second.jobs.size();
			       });
}

} /* namespace nvdla */
