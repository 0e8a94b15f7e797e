// Checks of a plan that comes from Python.
#pragma once

#include "plan/plan.h"

namespace snc {

// Checks all sizes, numbers and angles of a plan, so that nothing that reads it later has to. Throws std::invalid_argument.
void check_plan(const PlanArrays& plan);

}  // namespace snc
