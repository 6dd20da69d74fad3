/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <limits>
#include <string>

#include "rule_cases.h"

namespace nvdla::test
{

namespace
{

using B = TaskBuilder;

/* SDP or CDP with a look-up table in one precision. */
void addTable(B &b, nvdla_op_type engine, nvdla_precision precision)
{
	const unsigned int bytes = precision == NVDLA_PRECISION_INT8 ? 1 : 2;

	if (engine == NVDLA_OP_SDP) {
		b.useLut(b.addSdp());
		b.sdp(0).x1_op = {};
		b.sdp(0).src_precision = b.sdp(0).dst_precision = static_cast<uint8_t>(precision);
		b.sdpCubes(0).src_data = featureCube(0, 0, 8, 8, 32, bytes);
		b.sdpCubes(0).dst_data = featureCube(2, 0, 8, 8, 32, bytes);
		return;
	}
	b.addCdp();
	b.cdp(0).in_precision = b.cdp(0).out_precision = static_cast<uint8_t>(precision);
	b.cdpCubes(0).src_data = featureCube(2, 0, 8, 8, 32, bytes);
	b.cdpCubes(0).dst_data = featureCube(3, 0, 8, 8, 32, bytes);
}

void lut(B &b)
{
	addTable(b, NVDLA_OP_SDP, NVDLA_PRECISION_INT8);
}

void fp16(B &b)
{
	addTable(b, NVDLA_OP_SDP, NVDLA_PRECISION_FP16);
}

std::vector<RuleCase> valueCases()
{
	return {
		{ "LUT_METHOD", "luts[0].method", lut, [](B &b) { b.luts[0].method = 2; } },
		{ "LUT_PRIORITY", "luts[0].hybrid_priority", lut,
		  [](B &b) { b.luts[0].hybrid_priority = 2; } },
		{ "LUT_PRIORITY", "luts[0].overflow_priority", lut,
		  [](B &b) { b.luts[0].overflow_priority = 2; } },
		{ "LUT_RANGE", "luts[0].le_end", lut, [](B &b) { b.luts[0].le_end = 1ULL << 32; } },
		{ "LUT_RANGE", "luts[0].lo_start", lut,
		  [](B &b) { b.luts[0].lo_start = static_cast<uint64_t>(-2147483649LL); } },
		/* 0x1p30 and 0x1p32: what INDEX_SELECT 0 leaves no room above. */
		{ "LUT_START", "luts[0].le_start", fp16,
		  [](B &b) { b.luts[0].le_start = 0x4e800000; } },
		{ "LUT_START", "luts[0].lo_start", fp16,
		  [](B &b) { b.luts[0].lo_start = 0x4f800000; } },
		{ "LUT_START", "luts[0].lo_start",
		  [](B &b) {
			  fp16(b);
			  b.luts[0].lo_offset.field.value = 119;
			  b.luts[0].lo_start = 0x7f7fffff;
			  b.luts[0].le_offset.field.value = -128;
			  b.luts[0].le_start = 0x0e7fffff;
		  },
		  [](B &b) { b.luts[0].lo_start = 0x7f800000; } },
		{ "LUT_START", "luts[0].le_start",
		  [](B &b) {
			  fp16(b);
			  b.luts[0].le_offset.field.value = -128;
			  b.luts[0].le_start = 0x0e7fffff;
		  },
		  [](B &b) { b.luts[0].le_start = 0x0e800000; } },
		{ "LUT_SHIFT", "luts[0].lo_underflow.shifter", lut,
		  [](B &b) { b.luts[0].lo_underflow.field.shifter = 16; } },
		{ "LUT_SHIFT", "luts[0].le_overflow.shifter", lut,
		  [](B &b) { b.luts[0].le_overflow.field.shifter = -17; } },
	};
}

/* The guide's tables of INDEX_SELECT and INDEX_OFFSET. */
struct Range {
	nvdla_op_type engine;
	nvdla_precision precision;
	int leMin, leMax;	  /* linear: LE_INDEX_SELECT */
	int loMin, loMax;	  /* LO_INDEX_SELECT */
	int offsetMin, offsetMax; /* exponential: LE_INDEX_OFFSET */
};

constexpr Range ranges[] = {
	{ NVDLA_OP_SDP, NVDLA_PRECISION_INT8, -6, 25, -8, 23, -64, 31 },
	{ NVDLA_OP_SDP, NVDLA_PRECISION_INT16, -6, 25, -8, 23, -64, 31 },
	{ NVDLA_OP_SDP, NVDLA_PRECISION_FP16, -128, 121, -128, 119, -126, 127 },
	{ NVDLA_OP_CDP, NVDLA_PRECISION_INT8, -6, 15, -8, 13, -64, 20 },
	{ NVDLA_OP_CDP, NVDLA_PRECISION_INT16, -6, 31, -8, 29, -64, 36 },
	{ NVDLA_OP_CDP, NVDLA_PRECISION_FP16, -128, 121, -128, 119, -126, 127 },
};

using Offset = nvdla_lut_offset nvdla_lut_desc::*;

/* Both ends of a range are accepted, what lies beyond is not, if a descriptor can say it. */
void addEnds(std::vector<RuleCase> &cases, const std::string &rule, const Range &range,
	     nvdla_lut_method method, Offset member, int min, int max)
{
	const std::string field =
		member == &nvdla_lut_desc::le_offset ? "luts[0].le_offset" : "luts[0].lo_offset";

	for (const auto &[last, beyond] :
	     { std::pair{ min, min - 1 }, std::pair{ max, max + 1 } }) {
		if (beyond < std::numeric_limits<int8_t>::min() ||
		    beyond > std::numeric_limits<int8_t>::max())
			continue;
		cases.push_back({ rule, field,
				  [=, last = last](B &b) {
					  addTable(b, range.engine, range.precision);
					  b.luts[0].method = static_cast<uint8_t>(method);
					  (b.luts[0].*member).field.value =
						  static_cast<int8_t>(last);
				  },
				  [=, beyond = beyond](B &b) {
					  (b.luts[0].*member).field.value =
						  static_cast<int8_t>(beyond);
				  } });
	}
}

std::vector<RuleCase> rangeCases()
{
	std::vector<RuleCase> cases;

	for (const Range &range : ranges) {
		addEnds(cases, "LUT_LE_SELECT", range, NVDLA_LUT_LINEAR, &nvdla_lut_desc::le_offset,
			range.leMin, range.leMax);
		addEnds(cases, "LUT_LO_SELECT", range, NVDLA_LUT_LINEAR, &nvdla_lut_desc::lo_offset,
			range.loMin, range.loMax);
		addEnds(cases, "LUT_OFFSET", range, NVDLA_LUT_EXPONENTIAL,
			&nvdla_lut_desc::le_offset, range.offsetMin, range.offsetMax);
	}
	return cases;
}

} /* namespace */

std::vector<RuleCase> lutRuleCases()
{
	std::vector<RuleCase> cases = valueCases();
	const std::vector<RuleCase> ends = rangeCases();

	cases.insert(cases.end(), ends.begin(), ends.end());
	return cases;
}

} /* namespace nvdla::test */
