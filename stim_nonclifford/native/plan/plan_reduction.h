// The reduction of a plan: on how many coordinates its outcomes need a coefficient vector, and what of the circuit makes them need it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "plan/reduction/elimination_program.h"

namespace snc {

struct Plan;

// Plans with more activated coordinates have no reduction.
constexpr uint32_t max_elimination_qubits = 1024;

struct Reduction {
    enum class Obstacle : int32_t {
        none = 0,
        no_operation = 1,  // the plan has no measurement, or too many operations to look at
        not_diagonal = 2,  // `rotation` is not diagonal in the plan
        angle = 3,         // the angle of `rotation`, which `measurement` needs, is no multiple of π/8 (T)
        core = 4,          // `measurement` needs what is not Clifford about the rotations before it
        late_sign = 5,     // an outcome after `rotation` decides on its sign
    };

    // None with the obstacles no_operation, not_diagonal and late_sign.
    std::optional<EliminationProgram> program;
    // The first reason for coefficients, with numbers of operations.
    Obstacle obstacle = Obstacle::none;
    int32_t rotation = -1, measurement = -1;
    // Of the rotations: those that are no Cliffords; and sign bits that choose Cliffords.
    uint32_t num_t = 0, num_conditional = 0;
    // Of signature 0 and of some drawn ones: the mean work, and the most coins and axes.
    double strings = 0, products = 0, coefficients = 0;
    uint32_t coins = 0, dense_width = 0;
    // Of a signature, in nanoseconds that are computed from numbers of steps: a simulation with all coefficients, and an elimination.
    double dense_cost = 0, elimination_cost = 0;
    bool pays = false;
};

Reduction reduce(const Plan& plan);

// The program of a plan's reduction, whether it pays or not; none if there is none.
std::shared_ptr<const EliminationProgram> elimination_program(const Plan& plan);

// Whether an elimination can cost less than a simulation with all coefficients, by the width and the number of operations alone.
bool may_pay(const Plan& plan);

}  // namespace snc
