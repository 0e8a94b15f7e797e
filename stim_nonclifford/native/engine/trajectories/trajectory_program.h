// A circuit as the trajectories of shots follow it: steps without loops, and the places at which noise may act.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/program/program.h"

namespace snc {

// What a shot returns.
struct TrajectoryOutputs {
    bool by_records;                      // outputs are records; else detectors, then observables
    std::vector<uint8_t> constant;        // for each output, whether it is inverted
    std::vector<uint32_t> reported;       // the outputs that are returned, in this order
    std::vector<uint32_t> postselected;   // a shot in which one of these is 1 is discarded
};

// Unusual models of leakage (leakage_steps.py), for each qubit.
struct LeakagePartners {
    std::vector<double> paulis;        // [qubits][3]: probabilities of X, Y and Z of the others; -1: they are completely mixed
    std::vector<double> replacements;  // the probability that a reset replaces the qubit if it is lost
};

// Angles that are the same for all of a shot. Each variable is drawn once a shot: a number of one of several angles, or a Gaussian.
struct TurnTables {
    std::vector<uint32_t> variables;     // [turns]
    std::vector<uint32_t> first_angles;  // [turns + 1]
    std::vector<double> angles;          // half-turns; of a Gaussian, one: its standard deviation
    std::vector<uint32_t> first_sums;    // [variables + 1]
    std::vector<double> sums;            // cumulative weights; none: a Gaussian

    size_t num_variables() const { return first_sums.size() - 1; }
    bool is_gaussian(size_t variable) const { return first_sums[variable] == first_sums[variable + 1]; }
    // Throws std::invalid_argument unless they belong together.
    void check() const;
};

enum class TrajectoryStepKind : uint8_t {
    gate,
    rotate,
    turn,
    measure,
    reset,
    feedback,
    paulis,          // of a channel whose most likely pattern is not "nothing"
    correlated_error,
    detector,
    observable,
    leakage_return,
    leakage_spread,
    leakage_herald,
    leaked_flip,
    meeting,
    absence,
    skip,
    accept,
    end_block,
    expectation,
};

struct TrajectoryStep {
    TrajectoryStepKind kind;
    bool flag;             // inverted (measure, skip), moves (spread), to |1> (return), of loss (herald), in attempts (detector), of a Pauli with a minus sign (expectation)
    bool resets;
    uint32_t number;       // of the gate, the record, the output, the attempt, the turn or the expectation value; of a correlated error: its number in the chain
    uint32_t chain;        // of a correlated error; of a skip, absence or accept: the step at which to go on
    uint32_t first, end;   // of its factors (rotate, turn, measure, reset, feedback, correlated error), targets or records
    uint32_t decision;     // the number of the random decision
    uint32_t line;         // in the printed circuit
    double first_value;    // cos(pi a / 2) of a rotation; probability
    double second_value;   // sin(pi a / 2)
    uint64_t pattern;      // of paulis
};

// What moves if an attempt is accepted: [first, end) of records, detectors and expectation values, to the places before `last`.
struct Attempt {
    struct Range {
        uint32_t first, end, last;
    };
    Range records, detectors, expectations;
    uint32_t num_detectors;  // of one attempt
};

enum class NoiseKind : uint8_t { paulis, readout, misread, chain, relaxation, leaking, leaking_from_ones };

// A place at which noise may act, with the probability of any event.
struct NoisePlace {
    NoiseKind kind;
    bool is_loss = false;
    bool is_inverted = false;     // the record of a misread outcome
    bool precedes_reset = false;  // of a relaxation: what acts on its qubit next is a reset, or nothing
    uint32_t step;                // the event happens before this one
    uint32_t number = 0;          // of the channel; of the chain; of the record
    uint32_t first = 0, size = 0;  // of its targets
    int64_t herald = -1;          // record, or -1
    uint32_t decision = 0;
    double probability = 0;
    // Relaxation: probabilities of a reset, a Z and an amplitude damping, and sqrt(1 - gamma) of the latter.
    // Misread: the probabilities, given the event, with which 0 and 1 are misread.
    std::array<double, 3> weights{};
    double amplitude = 1;
};

// Places whose events are drawn together: a candidate at each with the largest probability of any of them.
struct NoiseClass {
    double probability;
    double log_of_nothing;          // log(1 - probability)
    std::vector<uint32_t> places;   // ascending
};

// A product of rows of the inverse tableau.
struct RowImage {
    uint32_t row;                  // 2k: X of target k; 2k + 1: its Z
    std::vector<uint32_t> factors;  // rows
    uint32_t i_power;
};

// What a gate does to the rows of its targets.
struct GateRows {
    // One after the other: a row is multiplied by another one (or by its own number: by nothing), and by a power of i.
    struct Factor {
        uint32_t row, by, i_power;
    };
    uint32_t num_targets;
    std::vector<RowImage> images;   // of the rows that change
    bool exchanges;                 // two rows change places
    std::vector<Factor> factors;    // the same as the images, if it can be said so
};

// Patterns and their cumulative probabilities, given that there is an event.
struct EventTable {
    std::vector<uint64_t> patterns;
    std::vector<double> sums;
    double rate;  // mean number of independent events; 0: the first one excludes others
};

class TrajectoryProgram {
   public:
    // `lines`: of each stored step of the program. Throws ResourceLimit if it is too long.
    TrajectoryProgram(const Program& program, TrajectoryOutputs outputs, LeakagePartners leakage, TurnTables turns,
                      std::span<const int32_t> lines);

    uint32_t num_qubits, num_records, num_detectors, num_outputs;
    uint32_t num_decisions = 0, num_expectations = 0;
    TrajectoryOutputs outputs;
    std::vector<uint8_t> is_postselected;  // by output
    LeakagePartners leakage;
    TurnTables turns;
    uint32_t first_turn_decision = 0;  // two for each variable
    bool has_leakage = false;
    std::vector<TrajectoryStep> steps;
    std::vector<uint32_t> targets;
    std::vector<QubitPauli> factors;
    std::vector<uint32_t> records;
    std::vector<GateRows> gates;
    std::vector<EventTable> channels;
    std::vector<std::vector<std::pair<uint32_t, double>>> chains;  // of each, (step, probability) of its errors
    std::vector<Attempt> attempts;
    std::vector<NoisePlace> places;
    // Structural events change which operations act on the state; the others are Paulis and flips of records.
    std::vector<NoiseClass> structural, pauli;

   private:
    void add(const Program& program, const CircuitStep& step, const Shift& shift, uint32_t line);
    void add_noise(const Program& program, const CircuitStep& step, const Shift& shift, uint32_t line);
    void add_relaxation(const CircuitStep& step, uint32_t qubit);
    void end_block(uint32_t line);
    TrajectoryStep& add_step(TrajectoryStepKind kind, uint32_t line);
    void note_resets();
    void add_classes();

    // What has begun and not ended: a skip, or attempts with the steps that accept one.
    struct OpenBlock {
        bool has_attempts;
        std::vector<uint32_t> steps;
        uint32_t first_record, first_detector, first_expectation;
    };
    std::vector<OpenBlock> open_blocks_;
};

}  // namespace snc
