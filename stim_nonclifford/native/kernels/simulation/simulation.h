// Simulates the shots whose outcomes are not in the trees. A team simulates one shot after another, and grows the trees.
#pragma once

#include "kernels/shared/driver.h"
#include "kernels/simulation/coefficient_sections.h"
#include "kernels/simulation/tree_walk.h"

namespace snc {

// Branch rows of at most this many words lie in shared memory.
constexpr uint32_t max_shared_branch_words = 256;

// The size of a ShotProgress.
constexpr uint64_t max_progress_bytes = 256;

constexpr uint64_t weak_bytes = sizeof(WeakProjection);

// Weak measurements normalize the vector when its squared norm is this far from 1. Each of them multiplies it by up to 4.
constexpr double max_norm = 0x1p16, min_norm = 0x1p-16;

// Shared memory of a team that simulates, with a vector of this width in it.
SNC_HOST_DEVICE uint64_t simulation_bytes(const PlanImage& plan, uint64_t shared_width) {
    const uint64_t vector = (uint64_t{1} << shared_width) * sizeof(Coefficient);
    const uint64_t words = plan.branch_words <= max_shared_branch_words ? plan.branch_words : 0;
    return vector + max_angles * sizeof(Angle) + weak_bytes + (words + 1) / 2 * 16 + max_progress_bytes;
}

// A shot on its way through the steps of the plan. If not all vectors are in shared memory, those up to a width are.
template <bool all_in_shared, typename Team>
class Simulation {
   public:
    SNC_HOST_DEVICE Simulation(Team& team, const Job& job)
        : team_(team),
          plan_(*job.plan),
          job_(job),
          steps_(plan_.array<Step>(plan_.steps)),
          rotations_(plan_.array<Rotation>(plan_.rotations)) {
        uint8_t* shared = team.shared() + team.index_in_block() * simulation_bytes(plan_, job.shared_width);
        angles_ = reinterpret_cast<Angle*>(shared);
        shared += max_angles * sizeof(Angle);
        projection_ = reinterpret_cast<WeakProjection*>(shared);
        shared += weak_bytes;
        vector_ = narrow();
        shared += (uint64_t{1} << job.shared_width) * sizeof(Coefficient);
        const bool row_in_shared = plan_.branch_words <= max_shared_branch_words;
        row_ = row_in_shared ? reinterpret_cast<uint64_t*>(shared)
                             : job.branch_rows + uint64_t{team.index()} * plan_.branch_words;
        shared_end_ = shared + (row_in_shared ? (uint64_t{plan_.branch_words} + 1) / 2 * 16 : 0);
    }

    // The shared memory after it.
    SNC_HOST_DEVICE uint8_t* shared_end() const { return shared_end_; }

    SNC_HOST_DEVICE void start(const uint64_t* signature) {
        const auto* constant = plan_.array<uint64_t>(plan_.branch_constant);
        const auto* images = plan_.array<uint64_t>(plan_.signature_images.words);
        const bool are_lists = plan_.signature_images.are_lists != 0;
        const uint32_t words = plan_.branch_words;
        vector_ = narrow();
        if (team_.leads()) vector_[0] = {1, 0};
        team_.for_each(words, [&](uint64_t w) {
            uint64_t sum = constant[w];
            for (uint32_t s = 0; s < plan_.signature_words && !are_lists; ++s)
                for (uint64_t bits = signature[s]; bits != 0; bits &= bits - 1)
                    sum ^= images[uint64_t{64 * s + lowest_bit(bits)} * words + w];
            row_[w] = sum;
        });
        if (are_lists) add_signature(*this, signature, plan_.signature_words, true);
        progress_ = {0, true};
        known_begin_ = known_end_ = 0;
        projection_is_pending_ = false;
        close_ = 0;
    }

    // Runs up to the next MEASURE, or to the end. Returns the number of the MEASURE, or the end.
    SNC_HOST_DEVICE int32_t advance() { return snc::advance(*this, progress_); }

    // As driver.h calls them.
    SNC_HOST_DEVICE uint32_t num_steps() const { return plan_.num_steps; }
    SNC_HOST_DEVICE const Step& step(uint32_t number) const { return steps_[number]; }
    SNC_HOST_DEVICE void begin(const Step& step) {
        move_vector(step);
        if (projection_is_pending_ && step.projects == 0) weak_project(team_, vector_, *(&step - 1), *projection_);
        projection_is_pending_ = false;
    }
    SNC_HOST_DEVICE void apply(const Step& step) {
        know_angles(step);
        const Angle* angles = angles_of(step);
        if (step.kind == StepKind::activate)
            activate(team_, vector_, step, angles[0]);
        else
            rotate(team_, vector_, step, rotations_ + step.first_rotation, angles,
                   {*(&step - step.projects), *projection_, *(&step + step.sums), norm_, overlap_});
    }
    SNC_HOST_DEVICE void weigh(const Step& step) {
        if (step.is_summed == 0) sum_weights(team_, vector_, step, norm_, overlap_);
        if (step.kind == StepKind::weak_measure) know_angles(step);
        weights_ = weights_of(step, factor(step), norm_, overlap_);
        probability_of_one_ = weights_.one / (weights_.zero + weights_.one);
        const double uncertainty = probability_of_one_ < 0.5 ? probability_of_one_ : 1 - probability_of_one_;
        certain_ = certain_at(step.width + (step.kind == StepKind::weak_measure ? 1 : 0));
        close_ += uncertainty > 0.1 * certain_ && uncertainty < 10 * certain_;
    }
    SNC_HOST_DEVICE void project(const Step& step, bool outcome) {
        const double weight = outcome ? weights_.one : weights_.zero;
        if (step.kind == StepKind::weak_measure)
            project_weakly_later(step, outcome, weight);
        else
            snc::project(team_, vector_, step, outcome, weight);
    }

    SNC_HOST_DEVICE double probability_of_one() const { return probability_of_one_; }
    // Whether the outcome of the MEASURE is certain.
    SNC_HOST_DEVICE bool is_certain() const {
        return probability_of_one_ < certain_ || probability_of_one_ > 1 - certain_;
    }

    // Applies an outcome of the MEASURE at which `advance` stopped.
    SNC_HOST_DEVICE void take(bool outcome) {
        const Step& measured = step(progress_.step);
        progress_.left = true;  // or else nothing would be measured; known to the compiler, this saves an instruction
        snc::take(*this, measured, *this, progress_, outcome, measured.has_checks != 0);
    }

    // The outputs that the outcomes flip.
    SNC_HOST_DEVICE const uint64_t* outputs() const { return row_ + plan_.sign_words; }
    // Counts outcomes that rounding could have turned from certain to uncertain, or back.
    SNC_HOST_DEVICE uint32_t close() const { return close_; }

    // As driver.h calls it.
    SNC_HOST_DEVICE void flip_image(uint32_t bit, bool) { flip(plan_.signature_images, bit); }
    SNC_HOST_DEVICE void flip_effect(uint32_t outcome, bool) { flip(plan_.outcome_effects, outcome); }
    // Whether no check is set that is final after an outcome.
    SNC_HOST_DEVICE bool passing(uint64_t outcome) const {
        const TableImage& table = plan_.final_checks;
        uint64_t set = 0;
        if (table.are_lists != 0) {
            const auto* starts = plan_.array<int64_t>(table.starts);
            const auto* flips = plan_.array<WordFlip>(table.flips);
            for (int64_t f = starts[outcome]; f < starts[outcome + 1]; ++f) set |= row_[flips[f].word] & flips[f].mask;
        } else {
            const uint64_t* checks = plan_.array<uint64_t>(table.words) + outcome * plan_.sign_words;
            for (uint32_t w = 0; w < plan_.sign_words; ++w) set |= row_[w] & checks[w];
        }
        return set == 0;
    }

   private:
    // Where the vector may be. Computed when needed: pointers would take registers from the rotations.
    SNC_HOST_DEVICE Coefficient* narrow() const { return reinterpret_cast<Coefficient*>(projection_ + 1); }
    SNC_HOST_DEVICE Coefficient* wide() const {
        return reinterpret_cast<Coefficient*>(job_.vectors + team_.index() * job_.vector_bytes);
    }

    // Moves the vector to where it is kept during a step.
    SNC_HOST_DEVICE void move_vector(const Step& step) {
        if constexpr (!all_in_shared) {
            const uint32_t width = step.width + (step.kind == StepKind::activate ? 1 : step.grown);
            Coefficient* to = width <= job_.shared_width ? narrow() : wide();
            if (to == vector_) return;
            team_.for_each(uint32_t{1} << step.width, [&](uint32_t k) { to[k] = vector_[k]; });
            vector_ = to;
        }
    }

    // XORs a row of a table into the branch row.
    SNC_HOST_DEVICE void flip(const TableImage& table, uint64_t number) {
        if (table.are_lists != 0) {
            const auto* starts = plan_.array<int64_t>(table.starts);
            const auto* flips = plan_.array<WordFlip>(table.flips) + starts[number];
            // The flips of a row are of different words.
            team_.for_each(static_cast<uint32_t>(starts[number + 1] - starts[number]),
                           [&](uint64_t f) { row_[flips[f].word] ^= flips[f].mask; });
        } else {
            const uint64_t* by = plan_.array<uint64_t>(table.words) + number * plan_.branch_words;
            team_.for_each(plan_.branch_words, [&](uint64_t w) { row_[w] ^= by[w]; });
        }
    }
    SNC_HOST_DEVICE const Angle* angles_of(const Step& step) const {
        return angles_ + (step.first_rotation - known_begin_);
    }

    // The factor of a measured Pauli, of which a weak measurement's angle is known.
    SNC_HOST_DEVICE Coefficient factor(const Step& step) const {
        return factor_of(step, step.kind == StepKind::weak_measure ? angles_of(step)[0] : Angle{1, 0});
    }

    SNC_HOST_DEVICE void project_weakly_later(const Step& step, bool outcome, double weight) {
        team_.once([&] {
            const Coefficient plus = factor(step);
            const double sign = outcome ? -1 : 1;
            const bool is_far = weight > max_norm || weight < min_norm;
            *projection_ = {{sign * plus.re, sign * plus.im}, is_far ? 1 / square_root(weight) : 1};
        });
        projection_is_pending_ = true;
    }

    // Computes the angles of a step's rotations, and of the following rotations of the segment, which are needed soon.
    SNC_HOST_DEVICE void know_angles(const Step& step) {
        if (step.end_rotation <= known_end_) return;
        known_begin_ = step.first_rotation;
        known_end_ = step.angles_end < known_begin_ + max_angles ? step.angles_end : known_begin_ + max_angles;
        const auto* terms = plan_.array<RotationTerm>(plan_.terms);
        const auto is_set = [&](int32_t bit) {
            return bit >= 0 && (row_[static_cast<uint32_t>(bit) / 64] >> (static_cast<uint32_t>(bit) % 64) & 1) != 0;
        };
        team_.for_each(known_end_ - known_begin_, [&](uint64_t k) {
            angles_[k] = angle_of(rotations_[known_begin_ + k], terms, is_set);
        });
    }

    Team& team_;
    const PlanImage& plan_;
    const Job& job_;
    const Step* steps_;
    const Rotation* rotations_;
    Angle* angles_;
    Coefficient* vector_;
    uint64_t* row_;
    uint8_t* shared_end_;
    PathProgress<bool> progress_{};
    uint32_t known_begin_ = 0, known_end_ = 0, close_ = 0;
    double probability_of_one_ = 0, certain_ = certain;
    double norm_ = 0, overlap_ = 0;  // from which the weights of the next measurement follow
    Weights weights_{};
    // Of the last weak measurement, if the next pass through the vector has to make it. In shared memory, so that it takes no
    // registers from the passes.
    WeakProjection* projection_;
    bool projection_is_pending_ = false;
};

// The state of a shot besides its vector. One thread of the team writes it. It lies in shared memory, because it would take
// registers from the rotations.
template <bool separate>
struct ShotProgress {
    Request request;
    uint64_t shot;
    const uint64_t* row;      // signature and outputs
    CountedDecisions<separate> decisions;
    uint32_t decided;         // number of decisions
    bool branch;              // the last one
    bool grows;
    uint32_t first_new;       // the first node that it adds, and the last one
    uint32_t parent;

    SNC_HOST_DEVICE ShotProgress(const Job& job, const PlanImage& plan, const Request& wanted)
        : request(wanted),
          shot(job.queue_shots[wanted.entry]),
          row(job.queue_rows + uint64_t{wanted.entry} * (plan.signature_words + plan.output_words)),
          decisions(job.seed, shot),
          decided(0),
          branch(false),
          grows(wanted.kind != plain_request),
          first_new(open_end),
          parent(open_end) {}

    // Stores the MEASURE that the simulation has reached, and decides its outcome.
    template <typename Team>
    SNC_HOST_DEVICE void reach(Team& team, const Job& job, const PlanImage& plan, double probability_of_one,
                               int32_t outcome, const uint64_t* outputs) {
        if (grows && decided >= request.depth) {
            const uint64_t index = team.add(job.law_counters + nodes_used, uint64_t{1});
            grows = index < job.node_capacity;
            if (grows) {
                const auto node = static_cast<uint32_t>(index);
                job.nodes[index] = {probability_of_one, {open_end, open_end}, outcome, 0};
                if (outcome == kept_leaf)
                    for (uint32_t w = 0; w < plan.output_words; ++w)
                        job.node_outputs[index * plan.output_words + w] = outputs[w];
                if (parent != open_end)
                    job.nodes[parent].children[branch] = node;
                else
                    first_new = node;
                parent = node;
            }
        }
        if (outcome >= 0) branch = decisions.decide(probability_of_one, outcome);
        ++decided;
    }

    // Opens the new nodes for other shots.
    SNC_HOST_DEVICE void link(const Job& job) const {
        const uint32_t to = first_new == open_end ? uint32_t{cannot_grow} : first_new;
        if (request.kind == root_request)
            job.roots[request.link] = to;
        else if (request.kind != plain_request)
            job.nodes[request.link].children[request.kind] = to;
    }
};

static_assert(sizeof(ShotProgress<true>) <= max_progress_bytes, "room in shared memory");

// One round: simulates all requested shots, and some waiting shots.
template <bool all_in_shared, bool separate, typename Team>
SNC_HOST_DEVICE void simulation_kernel(Team& team, const Job& job, uint32_t round) {
    if (is_void(job)) return;
    const PlanImage& plan = *job.plan;
    const uint64_t num_requests = *round_counter(job, round, requested);
    const uint64_t num_waiting = *round_counter(job, round, waiting), limit = waiting_limit(job, round);
    const uint64_t total = num_requests + (num_waiting < limit ? num_waiting : limit);
    Simulation<all_in_shared, Team> simulation(team, job);
    auto* shot = reinterpret_cast<ShotProgress<separate>*>(simulation.shared_end());
    Finished finished(job);
    uint64_t simulated = 0;

    for (uint64_t taken = team.take(round_counter(job, round, next_request)); taken < total;
         taken = team.take(round_counter(job, round, next_request))) {
        team.once([&] {
            const Request plain{taken < num_requests ? 0 : waiting_entries(job, round)[taken - num_requests], 0,
                                plain_request, 0};
            *shot = ShotProgress<separate>(job, plan, taken < num_requests ? job.requests[taken] : plain);
        });
        simulation.start(shot->row);
        int32_t outcome;
        while (true) {
            outcome = simulation.advance();
            bool taken_outcome = simulation.probability_of_one() > 0.5;
            if (outcome < 0 || !simulation.is_certain()) {
                team.once([&] {
                    shot->reach(team, job, plan, simulation.probability_of_one(), outcome, simulation.outputs());
                });
                if (outcome < 0) break;
                taken_outcome = shot->branch;
            }
            simulation.take(taken_outcome);
        }
        if (team.leads()) {
            shot->link(job);
            ++simulated;
            finished.close_decisions += shot->decisions.close() + simulation.close();
        }
        keep(team, job, plan.output_words, finished, outcome == kept_leaf && team.leads(), shot->shot,
             [&](uint32_t w) { return shot->row[plan.signature_words + w] ^ simulation.outputs()[w]; });
    }
    add_finished(team, job, finished);
    if (simulated != 0) team.add(job.counters + simulations, simulated);
}

}  // namespace snc
