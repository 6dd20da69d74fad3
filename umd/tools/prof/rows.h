/* SPDX-License-Identifier: MIT */
/*
 * The rows of a profile's table: hardware layers, or layers of the model.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profile.h"

namespace nvdla::prof
{

/** \brief Choice of a table's rows, and their order */
struct View {
	enum class Sort { Start, Time };

	bool byLayer = false; /**< true: one row for each layer of the model; false: one for each
				 hardware layer */
	Sort sort = Sort::Start;
	unsigned top = 0; /**< largest number of rows; 0: all */
};

/**
 * \brief The operations of one row
 *
 * Operations that pass data to each other directly, not through memory, run at the same time. They
 * are one hardware layer, whose time counts once.
 */
struct Row {
	/** \brief "0.3+4": operations 3 and 4 of task 0; "6 operations": operations of
	 * several hardware layers */
	std::string name;
	std::string engines; /**< names of the engines, such as "CONV+SDP" */
	std::string layer;   /**< layer of the model; empty if the loadable does not name it */
	std::string action;  /**< action of the first operation */
	std::string shape;   /**< shapes of the first input and the last output */
	std::string types;
	bool timed = false;		/**< true if at least one operation has times */
	uint64_t startNs = 0;		/**< time since the run began */
	uint64_t durationNs = 0;	/**< time in which at least one operation ran */
	std::vector<size_t> operations; /**< indices in Profile::operations */
};

std::vector<Row> rowsOf(const Profile &profile, const View &view);

/** \brief The columns that tables of rows begin with: operations, engines, layer, action */
class FirstColumns
{
public:
	/** \param[in] rows rows of the table; if none has a layer, there is no column for layers */
	explicit FirstColumns(const std::vector<Row> &rows);

	std::string titles() const;
	std::string of(const Row &row) const;

private:
	std::string cells(const std::string &name, const std::string &engines,
			  const std::string &layer, const std::string &action) const;

	size_t name_ = 7; /* widths in characters */
	size_t engines_ = 7;
	size_t layer_ = 0;
	size_t action_ = 10;
};

} /* namespace nvdla::prof */
