/* SPDX-License-Identifier: MIT */
/* Passes CSB accesses to the unit or function of their address. */
#include "core/core.h"

#include <new>
#include <utility>

#include <nvdla/hw/registers.h>

#include "core/register_table.h"

namespace nvdla::sim
{

namespace
{

constexpr const char *kReservedWrite = "write to a reserved address";

bool isLutConfig(uint32_t address)
{
	return address == NVDLA_SDP_S_LUT_ACCESS_CFG || address == NVDLA_CDP_S_LUT_ACCESS_CFG;
}

bool isLutData(uint32_t address)
{
	return address == NVDLA_SDP_S_LUT_ACCESS_DATA || address == NVDLA_CDP_S_LUT_ACCESS_DATA;
}

} /* namespace */

uint32_t Core::csbRead(uint32_t byteOffset)
{
	std::unique_lock lock(mutex_);
	const uint32_t value = resetting_ ? 0 : readLocked(config_.geometry.nameOf(byteOffset));
	Messages messages = { .errors = errors_.take() };
	lock.unlock();
	deliver(std::move(messages));
	return value;
}

uint32_t Core::readLocked(uint32_t address)
{
	if (!present(address, "read of a reserved address"))
		return 0;
	const Unit unit = static_cast<Unit>(address / NVDLA_UNIT_SIZE);
	if (unit == Unit::CfgRom)
		return config_.geometry.rom[address % NVDLA_UNIT_SIZE / 4];
	if (unit == Unit::Glb)
		return glb_.read(address);
	if (address == NVDLA_BDMA_STATUS)
		return scheduler_.bdma().status();
	LutAccessPort &port = unit == Unit::Sdp ? sdpPort_ : cdpPort_;
	if (isLutConfig(address))
		return port.config();
	if (isLutData(address))
		return port.read(scheduler_.lut(unit));
	return scheduler_.file(unit).read(address);
}

void Core::csbWrite(uint32_t byteOffset, uint32_t value)
{
	const CsbWrite write = { byteOffset, value };

	csbWrite({ &write, 1 });
}

void Core::csbWrite(std::span<const CsbWrite> writes)
{
	std::unique_lock lock(mutex_);
	if (resetting_)
		return;
	Messages messages;
	for (const CsbWrite &write : writes) {
		try {
			messages.interrupt |=
				writeLocked(config_.geometry.nameOf(write.byteOffset), write.value);
		} catch (const std::bad_alloc &) {
			errors_.addNoMemory("CSB", "write");
		}
	}
	messages.errors = errors_.take();
	messages.calls = std::exchange(toWake_, 0);
	lock.unlock();
	deliver(std::move(messages));
}

/* Returns true if an interrupt message must be sent. */
bool Core::writeLocked(uint32_t address, uint32_t value)
{
	const size_t number = address / NVDLA_UNIT_SIZE;
	const Unit unit = static_cast<Unit>(number);
	if (number >= unitCount || unit == Unit::Glb || isLutConfig(address) || isLutData(address))
		return writeSpecial(address, value);
	if (!config_.geometry.has(unit))
		return false;
	switch (scheduler_.file(unit).write(address, value)) {
	case RegisterFile::Write::Locked:
		guestError(address, "write to a register group that is in use");
		break;
	case RegisterFile::Write::Enabled:
		dispatch(unit);
		break;
	case RegisterFile::Write::Reserved:
		guestError(address, kReservedWrite);
		return false;
	case RegisterFile::Write::Done:
		break;
	}
	if (unit == Unit::Bdma)
		writeBdma(address, value);
	return false;
}

/* Handles writes to registers with side effects. */
bool Core::writeSpecial(uint32_t address, uint32_t value)
{
	const Unit unit = static_cast<Unit>(address / NVDLA_UNIT_SIZE);
	if (!present(address, kReservedWrite) || unit == Unit::CfgRom)
		return false;
	if (unit == Unit::Glb)
		return glb_.write(address, value);
	writeLut(unit, address, value);
	return false;
}

void Core::writeLut(Unit unit, uint32_t address, uint32_t value)
{
	LutAccessPort &port = unit == Unit::Sdp ? sdpPort_ : cdpPort_;
	if (isLutConfig(address))
		port.configure(value);
	else if (!port.write(scheduler_.lut(unit), value))
		guestError(address, "write outside the table, or while reading is selected");
}

void Core::writeBdma(uint32_t address, uint32_t value)
{
	BdmaQueue &bdma = scheduler_.bdma();
	const char *error = nullptr;
	if (address == NVDLA_BDMA_CFG_OP && value & NVDLA_BDMA_CFG_OP__EN)
		error = bdma.push(decodeBdma(scheduler_.file(Unit::Bdma).view(0)));
	else if (address == NVDLA_BDMA_CFG_LAUNCH0 && value & NVDLA_BDMA_CFG_LAUNCH0__GRP0_LAUNCH)
		error = scheduler_.launchBdma(0);
	else if (address == NVDLA_BDMA_CFG_LAUNCH1 && value & NVDLA_BDMA_CFG_LAUNCH1__GRP1_LAUNCH)
		error = scheduler_.launchBdma(1);
	if (error)
		guestError(address, error);
	dispatch(Unit::Bdma);
}

/* \return true if there is a register. Units that the core lacks read as zero, without an error. */
bool Core::present(uint32_t address, const char *what)
{
	const Geometry &geometry = config_.geometry;
	const size_t unit = address / NVDLA_UNIT_SIZE;
	if (unit < unitCount && !geometry.has(static_cast<Unit>(unit)))
		return false;
	if (unit == index(Unit::CfgRom) && address % 4 == 0 &&
	    address % NVDLA_UNIT_SIZE / 4 < geometry.rom.size())
		return true;
	if (registerInfo(address))
		return true;
	guestError(address, what);
	return false;
}

void Core::guestError(uint32_t address, const char *reason)
{
	const size_t unit = address / NVDLA_UNIT_SIZE;
	const RegisterInfo *info = registerInfo(address);

	errors_.add([&] {
		return GuestError{
			.unit = unit < unitCount ? unitName(static_cast<Unit>(unit)) : "CSB",
			.where = info ? info->name : hex(config_.geometry.addressOf(address)),
			.reason = reason,
			.detail = {}
		};
	});
}

} /* namespace nvdla::sim */
