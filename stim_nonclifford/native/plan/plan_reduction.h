// The reduction of a plan: whether its outcomes need a coefficient vector, and what of the circuit makes them need it.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/reduction/elimination_program.h"

namespace snc {

struct Plan;

struct Reduction {
    enum class Obstacle : int32_t {
        none = 0,
        no_operation = 1,  // the plan has no measurement, or too many operations to look at
        not_diagonal = 2,  // `rotation` is not diagonal in the plan
        angle = 3,         // the angle of `rotation`, which `measurement` needs, is no multiple of π/8 (T)
        core = 4,          // `measurement` needs what is not Clifford about the rotations before it, on `rank` or rank + 1 coordinates
        late_sign = 5,     // an outcome after `rotation` decides on its sign
    };

    std::optional<EliminationProgram> program;
    Obstacle obstacle = Obstacle::none;
    int32_t rotation = -1, measurement = -1;  // numbers of operations
    uint32_t rank = 0;
    // Of the rotations: those that are no Cliffords; and sign bits that choose Cliffords.
    uint32_t num_t = 0, num_conditional = 0;
    // Of signature 0 and of some drawn ones: the mean work, and the most coins.
    double strings = 0, products = 0;
    uint32_t coins = 0;
    // Of a signature, in nanoseconds that are computed from numbers of steps: a simulation with coefficients, and an elimination.
    double dense_cost = 0, elimination_cost = 0;
    bool pays = false;
};

Reduction reduce(const Plan& plan);

// Whether an elimination can cost less than a simulation with coefficients, by the width and the number of operations alone.
bool may_pay(const Plan& plan);

}  // namespace snc
