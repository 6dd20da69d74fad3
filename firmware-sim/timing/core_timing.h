/* SPDX-License-Identifier: MIT */
/*
 * Speed of the units of a core configuration.
 */
#pragma once

#include <cstdint>

namespace nvdla::sim
{

/**
 * \brief Rates and fixed costs of a configuration of the core, in core cycles
 *
 * Widths, and rates in elements and atoms a cycle, are from the specification of the core. The
 * other numbers are fitted to cycle counts of the RTL, for the cores whose RTL was run.
 */
struct CoreTiming {
	double portBytes; /**< bytes a cycle of a memory interface, each direction */
	/** \brief Test bench on which the reference vectors ran */
	struct TestBench {
		double write; /**< cycles between register writes */
		bool polls;   /**< polls for done bits; false: waits for interrupts */
	} testBench;

	struct Conv {
		double fixed;	      /**< cycles from enable to interrupt, besides costs below */
		double noFetch;	      /**< added to fixed, if everything is in the buffer */
		double winogradFixed; /**< additional cost of Winograd */
		uint64_t stripe;    /**< positions of a stripe; the last stripe of a set of weights
				     * has up to twice as many */
		uint64_t groupLoad; /**< cycles to load a set of weights of a whole group */
		uint64_t shortestLoad;	   /**< least cycles to load a set of weights */
		uint64_t shortestWinograd; /**< shortestLoad for Winograd */
		double oneSurfaceAtom;	   /**< cycles to fetch an atom of a one-surface cube */
		double atom;		   /**< cycles to fetch an atom of any other cube */
		double featureLine;	   /**< cycles for a line, in addition to its atoms */
		double imageLine;	   /**< cycles for a line of an image, instead of its
					    * atoms and featureLine */
		double imageByte;	   /**< cycles for a byte of an image */
		double weightShare;	   /**< share of the bandwidth for weights, in a memory
					    * that also has the cube */
	} conv;

	struct Sdp {
		double fixed;	    /**< cycles of an operation whose input is in memory */
		double stage;	    /**< cycles added if a stage is not bypassed */
		double flyingStage; /**< instead of stage, if the input is on the fly from a
				     * convolution */
		double lut;
		double noWrite;	       /**< cycles added if nothing is written */
		double xElements;      /**< elements a cycle, without Y */
		double yElements;      /**< elements a cycle, with Y */
		double flyingElements; /**< elements a cycle that CACC delivers */
		double pairedAtom;     /**< cycles of an atom of operand pairs (ALU, multiplier) */
		double writeLine;      /**< cycles for a line of output, in addition to its words */
		uint32_t writeBytes;   /**< bytes of a word of output */
	} sdp;

	struct Pdp {
		double fixed;
		double flyingFixed;
		uint64_t atom;	       /**< cycles of an atom of a line */
		uint64_t shortestLine; /**< least cycles of an input line */
	} pdp;

	struct Cdp {
		double fixed;
		double squares; /**< cycles added if elements are squared */
		double fp16;	/**< cycles added for FP16 */
		double fp16Squares;
		double atom;
		double position; /**< cycles added for each column with all its channels */
	} cdp;

	/** \brief BDMA and RUBIK, which only nv_full has */
	struct Move {
		uint64_t bdmaStart;	  /**< BDMA: cycles at the start of a group */
		uint64_t bdmaOtherSource; /**< BDMA: cycles for each change of the source memory */
		uint64_t contract;	  /**< RUBIK: fixed cycles of each mode */
		uint64_t split;
		uint64_t merge;
	} move;
};

/** \brief Fitted to 1204 reference vectors on nvdlav1's RTL */
extern const CoreTiming nvFullTiming;
/** \brief Derived from nv_full by formula: its RTL was not run */
extern const CoreTiming nvLargeTiming;
/** \brief Fitted to 278 vectors on its RTL */
extern const CoreTiming nvSmallTiming;
/** \brief Derived from nv_small by formula: its RTL was not run */
extern const CoreTiming nvSmall256Timing;
extern const CoreTiming nvSmall256FullTiming;

} /* namespace nvdla::sim */
