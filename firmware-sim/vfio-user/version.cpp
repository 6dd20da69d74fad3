/* SPDX-License-Identifier: MIT */
/*
 * VERSION messages: version numbers, then a JSON text with the capabilities of the sender.
 */
#include "dispatcher.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <nlohmann/json.hpp>

namespace nvdla::sim::vfiouser
{

namespace
{

/* Most bytes of the text: QEMU's has 200 bytes, so a far longer text is no capability list. */
constexpr size_t kMaxText = 64 * 1024;

/* Sets \a value to a limit that the client names; unchanged if it names none. */
bool readLimit(const nlohmann::json &capabilities, const char *name, uint32_t &value)
{
	const auto it = capabilities.find(name);
	if (it == capabilities.end())
		return true;
	if (!it->is_number_unsigned() || it->get<uint64_t>() == 0)
		return false;
	value = static_cast<uint32_t>(std::min<uint64_t>(it->get<uint64_t>(), value));
	return true;
}

} /* namespace */

tl::expected<uint32_t, int> readVersion(std::span<const std::byte> payload, Log &log)
{
	const auto numbers = parse<wire::Version>(payload);
	if (!numbers)
		return tl::unexpected(EINVAL);
	if (numbers->major != 0) {
		log.warning("the client speaks protocol version {}.{}, this server 0.0",
			    +numbers->major, +numbers->minor);
		return tl::unexpected(ENOTSUP);
	}

	uint32_t maxTransfer = wire::kMaxTransfer;
	const auto text = payload.subspan(sizeof(wire::Version));
	if (text.empty())
		return maxTransfer;
	if (text.size() > kMaxText || text.back() != std::byte{ 0 }) {
		log.warning("the client's capabilities are not a NUL-terminated text");
		return tl::unexpected(EINVAL);
	}
	const std::string_view view(reinterpret_cast<const char *>(text.data()), text.size() - 1);
	const auto json = nlohmann::json::parse(view, nullptr, false);
	if (!json.is_object()) {
		log.warning("the client's capabilities are not a JSON object");
		return tl::unexpected(EINVAL);
	}
	log.debug("the client's capabilities: {}", view);
	const auto capabilities = json.find("capabilities");
	if (capabilities == json.end())
		return maxTransfer;
	if (!capabilities->is_object() ||
	    !readLimit(*capabilities, "max_data_xfer_size", maxTransfer)) {
		log.warning(
			"the client's capabilities have a max_data_xfer_size that is no number");
		return tl::unexpected(EINVAL);
	}
	return maxTransfer;
}

Bytes versionReply(const Offer &offer)
{
	nlohmann::json capabilities = {
		{ "max_msg_fds", wire::kMaxFds },
		{ "max_data_xfer_size", wire::kMaxTransfer },
		{ "max_dma_maps", wire::kMaxDmaMaps },
		{ "pgsizes", wire::kPageSize },
	};
	if (offer.writeMultiple)
		capabilities["write_multiple"] = true;
	const std::string text = nlohmann::json{ { "capabilities", capabilities } }.dump();

	Bytes reply;
	append(reply, wire::Version{ 0, 0 });
	const auto *bytes = reinterpret_cast<const std::byte *>(text.c_str());
	reply.insert(reply.end(), bytes, bytes + text.size() + 1);
	return reply;
}

} /* namespace nvdla::sim::vfiouser */
