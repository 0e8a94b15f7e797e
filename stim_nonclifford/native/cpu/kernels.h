// The inner loops, compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace snc {

// Bytes to which the outputs of a block's shots are written, least significant bit first.
struct OutputBytes {
    uint8_t* base = nullptr;
    uint64_t first = 0;      // number of the row of shot 0 in base, modulo 2^64: it may lie before the first row
    size_t row_bytes = 0;
    uint64_t last_word = 0;  // mask of the outputs in the last word of a row

    uint8_t* row(uint64_t shot) const { return base + (first + shot) * row_bytes; }
};

// The noise of one block of shots.
struct NoiseBlock {
    // If rows are not kept in registers, the caller may set where outputs are written to; then `rows` has none.
    const OutputBytes* output_bytes = nullptr;

    // Shots without events, ascending; only if the plan has no coins.
    uint32_t num_event_free;
    uint16_t event_free[block_shots + 1];
    // The other shots that pass all checks, in no particular order, and their rows, including the constant.
    uint32_t num_shots;
    uint16_t shots[block_shots + 1];
    std::vector<uint64_t> rows;        // [num_shots][layout.words()], or only the words of the signature

    // Scratch: for each shot its number of events and the first of them; shots with events; the
    // mechanism of each event.
    uint32_t counts[block_shots];
    uint32_t starts[block_shots + 1];
    uint16_t order[block_shots + 1];
    std::vector<int32_t> events;
    std::vector<uint64_t> row;         // of the current shot, and the spare words behind it
    std::vector<uint32_t> last_shots_at_sites;  // for each site, 1 + the number of the last shot with an event there
    std::vector<uint16_t> script_states;        // of the qubits of a script of leakage
    std::vector<uint64_t> readouts;             // of the current shot, and the spare words behind them: bits of readouts
    std::vector<int32_t> decays;                // of the current shot: its mechanisms that are decays of records
};

// Squared norms of the projections of a vector on outcome 0 and 1.
struct OutcomeWeights {
    double zero, one;
};

// A PhaseProduct with the angles of a simulation.
struct Phases {
    int32_t width_before, width_after;
    uint32_t num_groups;
    const double* rows[PhaseProduct::max_groups];  // [rows][2][lanes]: real parts, imaginary parts
    const uint64_t* columns;
    uint64_t rows_of_first;                        // rows of the first group's table
};

// Functions on a coefficient vector. The vector consists of blocks of 2^index_lane_bits coefficients (a narrower one is part
// of a block): the real parts of a block, then its imaginary parts.
struct CoefficientKernels {
    // v <- cos v - i sin P v, for a rotation, or for those of a group (rotation_groups.h) one after the other.
    void (*rotate)(double* vector, std::span<const VectorRotation> rotations);

    // v <- [(cos - i sin) v, (cos + i sin) v] / sqrt(2), or, about X, [cos v, -i sin v].
    void (*activate)(double* vector, const VectorRotation& rotation);

    OutcomeWeights (*outcome_weights)(const double* vector, const Operation& operation);

    // Projects on an outcome of the given weight, normalizes, and removes the pivot's bit; `to` may be `from`.
    void (*project)(const double* from, double* to, const Operation& operation, bool outcome, double weight);

    // Multiplies by phases, and adds coordinates in |+>.
    void (*apply_phases)(double* vector, const Phases& phases);

    // A MEASURE of the vector with all coordinates, in which the partner of an entry is multiplied by `phases`; and the
    // projection, which is not normalized.
    OutcomeWeights (*weights_through)(const double* vector, const Phases& phases, const Operation& measurement);
    void (*project_through)(const double* from, double* to, const Phases& phases, const Operation& measurement, bool outcome);
};

// The number of shots whose narrow vectors are processed together, one lane for each shot.
constexpr uint32_t batch_shots = 8;

// Functions on the vectors of a batch of shots, as in CoefficientKernels. Block k holds coefficient k of all shots: real
// parts, then imaginary parts. An angle is such a block too, of cosines and sines.
struct BatchKernels {
    // The sum of the angles of rotations; `flipped` has a mask for each sign: the shots in which the sign is reversed.
    void (*sum_angles)(double* angle, const RotationTerm* terms, size_t count, const uint8_t* flipped);
    // Adds an angle, or minus the angle, to another one, which has no value yet if `is_new`.
    void (*add_angle)(double* to, const double* angle, bool is_new, bool reverse);
    // The product of phases, or of the squares of their inverses, for each index of that width.
    void (*phases)(double* table, int32_t width, const PhaseProduct& product, const double* angles, bool inverse_squares);
    void (*apply_phases)(double* vector, const double* table, int32_t width_before, int32_t width_after);
    void (*rotate)(double* vector, const Operation& operation, const double* angle);
    void (*activate)(double* vector, const VectorRotation& rotation, const double* angle);
    // Entry r of the projections on outcome 0 and 1 as blocks 2 r and 2 r + 1, times a common factor, and their squared
    // norms, those for outcome 0 first, and the probabilities of outcome 1.
    void (*measure)(const double* vector, const Operation& measurement, double* branches, double* weights);
    void (*measure_through)(const double* vector, const double* table, int32_t width_before, int32_t width_after,
                            const Operation& measurement, double* branches, double* weights);
    // The projection on outcome 1 for the shots of a mask, on outcome 0 for the others, normalized.
    void (*take)(double* vector, const double* branches, uint64_t size, uint64_t ones, const double* weights);
};

struct Kernels {
    const char* name;

    // Shots [begin, end) of a block: those that pass the checks.
    void (*sample_noise)(const Plan& plan, uint64_t seed, uint64_t block, uint32_t begin, uint32_t end,
                         NoiseBlock& out);

    // For each of these shots, counted from first_shot, the leading 12 bits of the first random word of its
    // outcomes.
    void (*draw_outcome_cells)(uint64_t seed, uint64_t first_shot, const uint16_t* shots, uint32_t num_shots,
                               uint16_t* cells);

    // Multiplies a table (as in Phases) of num_rows rows by cos - i sin (-1)^(parities of the row, z of the
    // lane); with `doubles`, the row has one more parity, the factor takes it, and the table doubles.
    void (*multiply_rows)(double* rows, size_t num_rows, bool doubles, uint32_t parities, uint64_t z, double cosine,
                          double sine);

    CoefficientKernels coefficients;
    BatchKernels batch;
};

// The kernels for this machine. The environment variable STIM_NONCLIFFORD_ISA (generic, avx2 or avx512)
// overrides the choice; an unknown or unsupported value throws std::invalid_argument.
const Kernels& kernels();

// Kernels by name; throws std::invalid_argument if unknown or unsupported here.
const Kernels& kernels_named(const std::string& name);

// The names of the kernels that run on this machine, slowest first.
std::vector<std::string> available_instruction_sets();

namespace generic { extern const Kernels table; }
#ifdef SNC_X86
namespace avx2 { extern const Kernels table; }
namespace avx512 { extern const Kernels table; }
#endif

}  // namespace snc
