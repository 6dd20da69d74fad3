/* SPDX-License-Identifier: MIT */
#include "chip/prediction_profile.h"

namespace nvdla::chip
{

prof::Profile predictionProfile(const Prediction &prediction)
{
	prof::Profile profile;

	profile.name = prediction.name + " on " + prediction.chip.text();
	profile.durationNs = prediction.durationNs;
	for (const PredictedOperation &operation : prediction.operations) {
		for (const PredictedOperation::Member &member : operation.members) {
			prof::OperationProfile shown;
			shown.task = operation.task;
			shown.index = member.index;
			shown.text = member.text;
			shown.startNs = operation.startNs;
			shown.endNs = operation.endNs;
			shown.timed = true;
			profile.operations.push_back(std::move(shown));
		}
	}
	return profile;
}

} /* namespace nvdla::chip */
