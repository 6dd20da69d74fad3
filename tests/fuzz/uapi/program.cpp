/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <algorithm>
#include <iterator>

namespace nvdla::fuzz
{

/* Small ones mean something more often: the first of a list, the usual way. */
uint32_t ProgramDice::number()
{
	return static_cast<uint32_t>(random_()) >> below(32);
}

Call ProgramDice::call()
{
	Call call;

	call.kind = static_cast<CallKind>(below(static_cast<size_t>(CallKind::Count)));
	/* What most of the driver is about. */
	if (below(4) == 0)
		call.kind = below(2) ? CallKind::Submit : CallKind::SubmitPrepared;
	for (uint32_t &number : call.numbers)
		number = this->number();
	return call;
}

Program ProgramDice::make()
{
	Program program{ { CallKind::Open, {} },
			 { CallKind::BufferCreate, { 1 } },
			 { CallKind::BufferCreate, { 1 } },
			 { CallKind::SyncobjCreate, {} },
			 { CallKind::TaskCreate, { 0, number() } } };

	for (uint32_t calls = 1 + below(8); calls > 0; calls--)
		program.push_back(call());
	return program;
}

Program ProgramDice::vary(Program program, const Program &other)
{
	const auto anywhere = [&] { return program.begin() + below(program.size() + 1); };

	for (uint32_t changes = 1 + below(4); changes > 0; changes--) {
		const uint32_t way = program.empty() ? 0 : below(6);
		switch (way) {
		case 0:
			program.insert(anywhere(), call());
			break;
		case 1:
			program.erase(program.begin() + below(program.size()));
			break;
		case 2:
			program.insert(anywhere(), Call(program[below(program.size())]));
			break;
		case 3: {
			const size_t from = below(other.size() + 1);
			program.resize(below(program.size() + 1));
			std::copy(other.begin() + static_cast<ptrdiff_t>(from), other.end(),
				  std::back_inserter(program));
			break;
		}
		default: {
			Call &call = program[below(program.size())];
			uint32_t &number = call.numbers[below(call.numbers.size())];
			number = below(2) ? this->number() : number ^ 1u << below(32);
			break;
		}
		}
	}
	if (program.size() > longest)
		program.resize(longest);
	return program;
}

std::string describe(const Program &program)
{
	std::string text;

	for (const Call &call : program) {
		text += std::to_string(static_cast<unsigned int>(call.kind)) + '(';
		for (const uint32_t number : call.numbers)
			text += std::to_string(number) + ' ';
		text.back() = ')';
		text += ' ';
	}
	return text;
}

} /* namespace nvdla::fuzz */
