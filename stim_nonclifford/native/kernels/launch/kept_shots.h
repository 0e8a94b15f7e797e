// Counts, lists or writes the outputs of a kept shot.
#pragma once

#include "kernels/launch/job.h"
#include "kernels/shared/noise_draws.h"

namespace snc {

// Each thread that finishes shots has one. Its numbers are added to those of the job at the end.
struct Finished {
    const Results results;
    uint32_t kept = 0;
    uint32_t close_decisions = 0;

    SNC_HOST_DEVICE explicit Finished(const Job& job) : results(static_cast<Results>(job.results)) {}
};

template <typename Team>
SNC_HOST_DEVICE void add_finished(Team& team, const Job& job, const Finished& finished) {
    if (finished.kept != 0) team.add(job.counters + kept, uint64_t{finished.kept});
    if (finished.close_decisions != 0) team.add(job.counters + close_decisions, uint64_t{finished.close_decisions});
}

// Finishes a shot, if it `is_kept`. All lanes of a warp come here. output(w) is word w of its outputs, which are `words`.
template <typename Team, typename Output>
SNC_HOST_DEVICE void keep(Team& team, const Job& job, uint32_t words, Finished& finished, bool is_kept, uint64_t shot,
                          Output output) {
    finished.kept += is_kept;
    if (finished.results == Results::rows) {
        if (!is_kept) return;
        const uint64_t place = shot - job.first_shot;
        for (uint32_t w = 0; w < words; ++w) job.output_rows[place * words + w] = output(w);
        job.output_kept[place] = 1;
        return;
    }
    uint64_t any = 0;
    if (is_kept)
        for (uint32_t w = 0; w < words; ++w) any |= output(w);
    if (any != 0 && job.block_errors != nullptr)
        team.add(job.block_errors + (shot / block_shots - job.first_shot / block_shots), uint32_t{1});
    if (finished.results == Results::patterns) {
        if (any != 0) team.add(job.pattern_counts + any, uint64_t{1});
        return;
    }
    const uint64_t place = team.append(job.counters + errors, any != 0);
    if (any == 0 || place >= job.error_capacity) return;
    job.error_shots[place] = shot;
    for (uint32_t w = 0; w < words; ++w) job.error_rows[place * words + w] = output(w);
}

}  // namespace snc
