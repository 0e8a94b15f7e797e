// The arguments of a launch: pointers to device memory and numbers, of eight bytes each.
#pragma once

#include "kernels/shared/driver.h"

namespace snc {

// The number of rounds in a chunk of shots. A round walks through the trees and grows them.
constexpr uint32_t num_rounds = 6;

// What is done with the outputs of kept shots.
enum class Results : uint64_t {
    patterns = 0,  // counted by pattern
    errors = 1,    // listed, if any output is set
    rows = 2,      // written, at the place of the shot
};

// Places of 64-bit counters.
enum Counter : uint32_t {
    next_block,          // of the noise kernel
    queued,              // shots whose outcomes must be drawn
    kept,
    errors,              // listed errors
    close_decisions,     // decisions of finished shots that rounding could change
    simulations,         // runs of the coefficient vector
    first_round_counter, // then for each round three more:
};
enum RoundCounter : uint32_t { waiting, requested, next_request, counters_per_round };
constexpr uint32_t num_counters = first_round_counter + (num_rounds + 1) * counters_per_round;

enum LawCounter : uint32_t { nodes_used, signatures_used, num_law_counters };

struct Node {
    double probability_of_one;
    uint32_t children[2];
    int32_t outcome;     // number of the MEASURE, or kept_leaf or discarded_leaf
    uint32_t unused;
};

// A shot whose outcomes are to be simulated; its decisions from number `depth` on make new nodes below `link`.
struct Request {
    uint32_t entry;      // in the queue
    uint32_t link;       // parent node or place in the table
    uint32_t kind;       // 0, 1: child of the parent; root_request; plain_request
    uint32_t depth;
};
constexpr uint32_t root_request = 2, plain_request = 3;

// The fields, for C++ and for Python: SNC_JOB_FIELDS(F) calls F(type, name) for each.
#define SNC_JOB_FIELDS(F)                                                                  \
    F(const struct PlanImage*, plan)                                                       \
    F(uint64_t, seed)                                                                      \
    F(uint64_t, first_shot)                                                                \
    F(uint64_t, end_shot)                                                                  \
    F(uint64_t, event_capacity)    /* events of a block that are kept in shared memory */  \
    F(uint64_t*, wide_rows)        /* [team][row_words][block_shots]; wide rows */         \
    F(uint16_t*, script_states)    /* [team][num_script_qubits][block_shots]; of leakage */ \
    F(uint64_t*, readouts)         /* [team][readout_words][block_shots] */                \
    F(uint64_t*, counters)                                                                 \
    F(uint64_t, queue_capacity)                                                            \
    F(uint64_t*, queue_shots)                                                              \
    F(uint64_t*, queue_rows)       /* [entry][signature_words + output_words] */           \
    F(uint64_t, results)           /* enum Results */                                      \
    F(uint64_t*, pattern_counts)   /* [2^num_outputs] */                                   \
    F(uint32_t*, block_errors)     /* errors of each block; may be null */                 \
    F(uint64_t, error_capacity)                                                            \
    F(uint64_t*, error_shots)                                                              \
    F(uint64_t*, error_rows)       /* [error][output_words] */                             \
    F(uint64_t*, output_rows)      /* [shot][output_words] */                              \
    F(uint8_t*, output_kept)       /* [shot] */                                            \
    F(uint64_t, num_slots)         /* of the table of signatures; a power of two, or 0 */  \
    F(uint64_t*, fingerprints)     /* [slot]; 0: free */                                   \
    F(uint64_t*, keys)             /* [slot][signature_words] */                           \
    F(uint32_t*, roots)            /* [slot]: node, or a Link */                           \
    F(uint64_t, node_capacity)                                                             \
    F(struct Node*, nodes)                                                                 \
    F(uint64_t*, node_outputs)     /* [node][output_words]; of leaves */                   \
    F(uint64_t*, law_counters)                                                             \
    F(uint32_t*, waiting_even)     /* [queue_capacity]: entries that wait for the next round */ \
    F(uint32_t*, waiting_odd)                                                              \
    F(struct Request*, requests)   /* [queue_capacity] */                                  \
    F(uint64_t, first_waiting_limit)  /* waiting shots simulated after the first round */  \
    F(uint64_t, shared_width)      /* vectors up to this width are in shared memory */     \
    F(uint8_t*, vectors)           /* [team][vector_bytes]; wider vectors */               \
    F(uint64_t, vector_bytes)                                                              \
    F(uint64_t*, branch_rows)      /* [team][branch_words] */

#define SNC_DECLARE_FIELD(type, name) type name;
struct Job {
    SNC_JOB_FIELDS(SNC_DECLARE_FIELD)
};
#undef SNC_DECLARE_FIELD
static_assert(sizeof(void*) == sizeof(uint64_t), "fields are of eight bytes");

}  // namespace snc
