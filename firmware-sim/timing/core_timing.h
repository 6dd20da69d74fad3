/* SPDX-License-Identifier: MIT */
/*
 * How fast the units of a core are.
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
	double portBytes; /**< of a memory interface, in each direction */
	/** \brief How the test bench that recorded vectors counted */
	struct TestBench {
		double write; /**< a register write, from one to the next */
		bool polls;   /**< up to the last done bit; else up to the last interrupt */
	} testBench;

	struct Conv {
		double fixed;	      /**< from the enable to the interrupt, beside all else */
		double noFetch;	      /**< the same if everything is in the buffer */
		double winogradFixed; /**< on top */
		uint64_t stripe; /**< positions; the last one of a step has up to twice as many */
		uint64_t groupLoad;	   /**< weights of a whole kernel group for a step */
		uint64_t shortestLoad;	   /**< the same of any group */
		uint64_t shortestWinograd; /**< the same of Winograd */
		double oneSurfaceAtom;	   /**< CDMA: an atom of a cube with one surface */
		double atom;		   /**< an atom of another cube */
		double featureLine;	   /**< a line, on top */
		double imageLine;	   /**< a line of an image, beside nothing */
		double imageByte;	   /**< a byte of it */
		double weightShare; /**< of a memory, while the cube is fetched from it, too */
	} conv;

	struct Sdp {
		double fixed;	    /**< of an operation from memory */
		double stage;	    /**< if a stage does something */
		double flyingStage; /**< the same behind a convolution */
		double lut;
		double noWrite;	       /**< if nothing is written */
		double xElements;      /**< elements a cycle, without Y */
		double yElements;      /**< with Y */
		double flyingElements; /**< elements a cycle that CACC delivers */
		double pairedAtom;     /**< an atom of operands for ALU and multiplier apart */
		double writeLine;      /**< a line of output, beside its words */
		uint32_t writeBytes;   /**< of such a word */
	} sdp;

	struct Pdp {
		double fixed;
		double flyingFixed;
		uint64_t atom;
		uint64_t shortestLine;
	} pdp;

	struct Cdp {
		double fixed;
		double squares; /**< on top, if elements are squared */
		double fp16;	/**< on top, of FP16 */
		double fp16Squares;
		double atom;
		double position; /**< a column of a line with all its channels, on top */
	} cdp;

	/** \brief BDMA and RUBIK, which only nv_full has */
	struct Move {
		uint64_t bdmaStart;	  /**< of a group */
		uint64_t bdmaOtherSource; /**< where the source memory changes */
		uint64_t contract;	  /**< fixed */
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
