/* SPDX-License-Identifier: MIT */
/*
 * What sysfs can do to the PCI function that the driver is bound to.
 */
#pragma once

#include <cstdint>
#include <string>

namespace nvdla::test
{

/** \brief The function that the driver was bound to when the object was made */
class PciFunction
{
public:
	PciFunction() : address_(bound()) {}
	/** \brief The function behind an accel node */
	explicit PciFunction(const std::string &node);

	/** \return the address of the function the driver is bound to, empty if there is none */
	static std::string bound();

	/** \brief Whether there is one */
	bool valid() const { return !address_.empty(); }

	/** \brief Has the function reset, behind the driver's back so to speak */
	bool reset() const;
	/** \brief Has the function no longer answer, until the driver is bound anew */
	bool silence() const;
	bool unbind() const;
	bool bind() const;
	/** \brief Takes the function away, as when a card is pulled */
	bool remove() const;
	/** \brief Has the kernel look for functions that it does not know; drivers are bound to
	 * them */
	static bool rescan();

	/** \brief Whether the function stays powered while it has nothing to do */
	bool stayAwake(bool awake) const;

	/**
	 * \brief Has the device misbehave
	 * \param fault NVDLA_PCI_FAULT_* of nvdla/hw/pci.h
	 * \param count how often
	 * \return false if the device model takes no orders: nvdla-sim --faults does
	 */
	bool order(uint32_t fault, uint32_t count = 1) const;

private:
	std::string config() const;

	std::string address_;
};

/** \brief Unbinds the driver; binds it again at the end of the test, however that ends */
class Unbound
{
public:
	explicit Unbound(const PciFunction &function = {})
		: function_(function), done_(function_.valid() && function_.unbind())
	{
	}
	~Unbound() { bind(); }
	Unbound(const Unbound &) = delete;
	Unbound &operator=(const Unbound &) = delete;

	bool done() const { return done_; }
	bool bind()
	{
		const bool bound = done_ && function_.bind();
		done_ = false;
		return bound;
	}

private:
	PciFunction function_;
	bool done_;
};

/** \return the only node there is: while an old file is open, the device comes back as the next */
std::string presentNode();

/**
 * \brief Gives a device its first node back, if it has another
 *
 * No file of any device may be open. \return whether it has that node now
 */
bool restoreNode(const std::string &first);

} /* namespace nvdla::test */
