// The parts of the Python module.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "plan/plan.h"

// Throws unless these are numbers of shots.
void check_shots(uint64_t first_shot, uint64_t shots);

// Throws unless there are the words of so many signatures of a plan.
void check_signatures(const std::vector<uint64_t>& words, size_t count, const snc::RowLayout& layout);

// "" is the cheaper one. Throws std::invalid_argument for other names than those of the methods.
snc::PathMethod path_method(const std::string& name);
// The plan of plan.py, which is checked; and two of its arrays, which are not: operations on at most 64 coordinates, and their terms.
snc::Plan to_plan(nanobind::handle plan, snc::PathMethod method = snc::PathMethod::cheaper);
snc::OperationList to_narrow_operations(nanobind::handle plan);
std::vector<snc::RotationTerm> to_rotation_terms(nanobind::handle plan);

// The program of compiler/program/program_arrays.py, which is checked.
snc::Program to_program(nanobind::handle program);

// What the GPU engine needs: plans as the device reads them, and its kernels on the host.
void bind_device(nanobind::module_& m);

// The constants that Python and C++ share.
void bind_constants(nanobind::module_& m);

// Fault sets and their outcome laws.
void bind_fault_sets(nanobind::module_& m);

// Expectation values along given paths.
void bind_path_expectations(nanobind::module_& m);

// The engine that follows each shot.
void bind_trajectories(nanobind::module_& m);

// What decoders need: least weights of matchings, for complementary gaps, and numbers for equal events.
void bind_matching(nanobind::module_& m);

// What the compiler's passes do in native code: the sweeps, the merging of rows, the alias table.
void bind_compiler(nanobind::module_& m);
