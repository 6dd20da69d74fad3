/* SPDX-License-Identifier: MIT */
/*
 * The process that measures: its time, and what it is allowed to use.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace nvdla::bench
{

/** \return processor time of all threads, which other processes on the machine do not lengthen */
double processSeconds();

/** \return seconds that pass while a call is made */
double elapsedSecondsOf(const std::function<void()> &call);

/**
 * \brief Time that a call takes
 *
 * With one thread, the caller's, that of the processor: what another thread has had of it since it
 * began to run is not known. With several, the time that passes: wakeThreads() before.
 *
 * \return seconds
 */
double secondsOf(unsigned int threads, const std::function<void()> &call);

/** \brief With several threads, call \a call, whose threads then still look for work */
void wakeThreads(unsigned int threads, const std::function<void()> &call);

/** \brief Wait until threads that oneDNN has left waiting in a loop have fallen asleep */
void letOneDnnSleep(unsigned int threads);

/** \brief What --isa can be: "avx512" (with VNNI), "avx2", or nothing for all that the host has */
inline const std::vector<std::string> kIsas = { "avx512", "avx2" };

/**
 * \brief Let oneDNN use \a threads threads, and neither it nor the model what is above \a isa
 *
 * oneDNN chooses both when it is loaded, so the program is begun anew unless OMP_NUM_THREADS says
 * that this has been done.
 */
void restrictHost(char **argv, unsigned int threads, const std::string &isa);

} /* namespace nvdla::bench */
