/* SPDX-License-Identifier: MIT */
/*
 * Speed of the units of a core.
 */
#pragma once

#include <cstdint>

namespace nvdla::sim
{

/**
 * \brief Rates and fixed costs of a configuration of the core, in core cycles
 *
 * Widths, and elements and atoms a cycle, are derived from the specification of the core. The
 * other numbers are fitted to the cycles of the RTL, for cores whose RTL could be compared.
 */
struct CoreTiming {
	double portBytes; /**< bytes a cycle of a memory interface, each direction */
	/** \brief Cycles that the test bench of the vectors adds */
	struct TestBench {
		double write; /**< distance between register writes */
		bool polls;   /**< ends with the last done bit, else last interrupt */
	} testBench;

	struct Conv {
		double fixed;	      /**< from enable to interrupt, besides other costs */
		double noFetch;	      /**< instead of fixed, if everything is in the buffer */
		double winogradFixed; /**< additional cost of Winograd */
		uint64_t stripe;    /**< positions of a stripe; the last stripe of a step has up to
				     * twice as many */
		uint64_t groupLoad; /**< loading a step's weights for a whole kernel group */
		uint64_t shortestLoad;	   /**< least time of loading for any group */
		uint64_t shortestWinograd; /**< least time of loading for Winograd */
		double oneSurfaceAtom;	   /**< fetch of an atom, if the cube has one surface */
		double atom;		   /**< fetch of an atom of any other cube */
		double featureLine;	   /**< fetch of a line, in addition to its atoms */
		double imageLine;	   /**< fetch of a line of an image, instead of its
					    * atoms' and line's cost */
		double imageByte;	   /**< fetch of a byte of an image */
		double weightShare;	   /**< share of the bandwidth for weights, in a memory
					    * that also has the cube */
	} conv;

	struct Sdp {
		double fixed;	    /**< an operation whose input is in memory */
		double stage;	    /**< additional, if a stage is not bypassed */
		double flyingStage; /**< instead of stage, if the input is on the fly from a
				     * convolution */
		double lut;
		double noWrite;	       /**< in addition, if nothing is written */
		double xElements;      /**< elements a cycle, without Y */
		double yElements;      /**< with Y */
		double flyingElements; /**< elements a cycle that CACC delivers */
		double pairedAtom;     /**< an atom of operand pairs, for ALU and multiplier */
		double writeLine;      /**< a line of output, in addition to its words */
		uint32_t writeBytes;   /**< bytes of such a word */
	} sdp;

	struct Pdp {
		double fixed;
		double flyingFixed;
		uint64_t atom;
		uint64_t shortestLine;
	} pdp;

	struct Cdp {
		double fixed;
		double squares; /**< in addition, if elements are squared */
		double fp16;	/**< in addition, for FP16 */
		double fp16Squares;
		double atom;
		double position; /**< in addition, for each column with all its channels */
	} cdp;

	/** \brief BDMA and RUBIK, which only nv_full has */
	struct Move {
		uint64_t bdmaStart;	  /**< BDMA: start of a group */
		uint64_t bdmaOtherSource; /**< BDMA: each change of the source memory */
		uint64_t contract;	  /**< RUBIK: fixed costs of its modes */
		uint64_t split;
		uint64_t merge;
	} move;
};

/** \brief Fitted to 1204 vectors of nvdlav1's RTL */
extern const CoreTiming nvFullTiming;
/** \brief By formula: no RTL was run */
extern const CoreTiming nvLargeTiming;
/** \brief Fitted to 278 vectors of its RTL */
extern const CoreTiming nvSmallTiming;
/** \brief Rates of nv_small, scaled by formula */
extern const CoreTiming nvSmall256Timing;
extern const CoreTiming nvSmall256FullTiming;

} /* namespace nvdla::sim */
