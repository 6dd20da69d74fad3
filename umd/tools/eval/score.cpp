/* SPDX-License-Identifier: MIT */
#include "score.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace nvdla::eval
{

namespace
{

double share(size_t part, size_t all)
{
	return all ? static_cast<double>(part) / static_cast<double>(all) : 0.0;
}

double millisecondsEach(const Score &score)
{
	return score.pictures ? score.milliseconds / static_cast<double>(score.pictures) : 0.0;
}

} /* namespace */

void Score::add(size_t label, std::span<const size_t> best, double took)
{
	constexpr size_t five = 5;
	const auto top = best.first(std::min(five, best.size()));

	pictures++;
	first += !top.empty() && top.front() == label;
	firstFive += std::ranges::find(top, label) != top.end();
	milliseconds += took;
	answers.push_back(top.empty() ? 0 : top.front());
}

double agreement(const Score &one, const Score &other)
{
	const size_t count = std::min(one.answers.size(), other.answers.size());
	size_t same = 0;

	for (size_t i = 0; i < count; i++)
		same += one.answers[i] == other.answers[i];
	return share(same, count);
}

std::string scoreTable(const std::vector<Score> &scores, const std::string &device)
{
	size_t width = 7;

	for (const Score &score : scores)
		width = std::max(width, score.network.size());
	std::string text = fmt::format("{:<{}} {:>9} {:>8} {:>8} {:>9}", "network", width,
				       "pictures", "first", "in five", "ms each");
	if (scores.size() > 1)
		text += fmt::format(" {:>14}", "same as line 1");
	text += '\n';
	for (const Score &score : scores) {
		text += fmt::format("{:<{}} {:>9} {:>7.2f}% {:>7.2f}% {:>9.3f}", score.network,
				    width, score.pictures, 100 * share(score.first, score.pictures),
				    100 * share(score.firstFive, score.pictures),
				    millisecondsEach(score));
		if (scores.size() > 1)
			text += fmt::format(" {:>13.2f}%", 100 * agreement(scores.front(), score));
		text += '\n';
	}
	return text + "on " + device + "\n";
}

std::string scoreJson(const std::vector<Score> &scores, const std::string &device)
{
	nlohmann::ordered_json networks = nlohmann::ordered_json::array();

	for (const Score &score : scores)
		networks.push_back({ { "network", score.network },
				     { "pictures", score.pictures },
				     { "first", share(score.first, score.pictures) },
				     { "first_five", share(score.firstFive, score.pictures) },
				     { "ms_each", millisecondsEach(score) },
				     { "same_as_first", agreement(scores.front(), score) } });
	const nlohmann::ordered_json all = { { "device", device },
					     { "networks", std::move(networks) } };
	return all.dump(1, '\t', true, nlohmann::json::error_handler_t::replace) + "\n";
}

} /* namespace nvdla::eval */
