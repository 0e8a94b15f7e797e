// Translates the steps of a simulation (simulation_steps.h) into those of the device's kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/launch/plan_image.h"
#include "plan/plan.h"

namespace snc {

struct DeviceSteps {
    std::vector<Step> steps;
    std::vector<Rotation> rotations;
    std::vector<RotationTerm> terms;
    uint32_t vector_width = 0;
};

DeviceSteps device_steps(const Plan& plan);

}  // namespace snc
