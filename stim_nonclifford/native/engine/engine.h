// The CPU engine: noise, then checks, then outcome laws, over blocks of shots and threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/interruption.h"
#include "base/numbered_rows.h"
#include "base/parallel_parts.h"
#include "base/turns.h"
#include "cpu/kernels.h"
#include "engine/laws/law_store.h"
#include "engine/laws/outcome_law.h"
#include "plan/plan.h"

namespace snc {

// Counts of kept shots by the pattern of their outputs. Pattern 0 is not counted.
class PatternCounts {
   public:
    explicit PatternCounts(uint32_t num_outputs);
    void add(const uint64_t* outputs);
    // Calls use(pattern words, count) for each pattern seen.
    void for_each(const std::function<void(const std::vector<uint64_t>&, uint64_t)>& use) const;

   private:
    // Few outputs: a counter for every pattern.
    static constexpr uint32_t max_table_bits = 10;
    uint32_t words_;
    bool has_rows_;
    std::vector<uint64_t> table_;  // by the pattern, or by its number among `rows_`
    NumberedRows rows_;
};

struct Tally {
    explicit Tally(uint32_t num_outputs) : patterns(num_outputs) {}
    uint64_t shots = 0, discards = 0, errors = 0;
    PatternCounts patterns;
    std::vector<uint64_t> error_shots;  // the numbers of the shots with errors, if they are asked for
};

struct KeptRows {
    std::vector<uint8_t> rows;   // [kept shots][bytes per row]
    std::vector<int64_t> shots;  // [kept shots]: their numbers
};

// Calls from several threads are executed one after another. Each call passes a `poll`. The calling thread calls it several
// times a second, while it waits and while it works; it may throw to stop the call.
class Engine {
   public:
    Engine(Plan plan, const Kernels& kernels, size_t num_threads, size_t cache_bytes, const std::function<void()>& poll);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Attempts `shots` shots from number `first_shot` on. With max_errors > 0 it stops at the end of the block in which
    // the number of errors reaches max_errors. With `list_errors` the result has the numbers of the shots with errors,
    // ascending.
    Tally count(uint64_t seed, uint64_t first_shot, uint64_t shots, uint64_t max_errors, bool list_errors,
                const std::function<void()>& poll);

    // Writes the first num_outputs outputs of all shots, bit-packed, to out[shots][row_bytes(num_outputs)]. If the plan
    // discards shots, their rows have no meaning, or keep what they have.
    void sample(uint64_t seed, uint64_t first_shot, uint64_t shots, uint32_t num_outputs, uint8_t* out,
                const std::function<void()>& poll);

    // The outputs of the kept shots, in order.
    KeptRows sample_kept(uint64_t seed, uint64_t first_shot, uint64_t shots, const std::function<void()>& poll);

    // Calls use(outcome laws), as a call of its own.
    template <typename Use>
    auto with_laws(const std::function<void()>& poll, Use use) {
        const Call call(*this, poll);
        return use(*workers_[0].laws);
    }

    // Draws outcomes for given signatures, [numbers.size()][words of a signature]: a number, with the seed, gives those of its
    // signature, as that of a shot does. Returns the outputs that they flip, [numbers.size()][words of the outputs]. They have no
    // meaning where the plan discards the shot.
    std::vector<uint64_t> outcomes(const std::vector<uint64_t>& signatures, const std::vector<uint64_t>& numbers, uint64_t seed,
                                   const std::function<void()>& poll);

    // Calls use(outcome laws of a thread, number of the part) for so many parts, from all threads.
    template <typename Use>
    void for_each_part(size_t parts, const std::function<void()>& poll, Use use) {
        const Call call(*this, poll);
        run_on_workers(parts, [&](Worker& worker, size_t part) { use(*worker.laws, part); });
    }

    // The rows of shots after noise, before outcomes: [shots][words of a row].
    std::vector<uint64_t> rows(uint64_t seed, uint64_t first_shot, uint64_t shots, const std::function<void()>& poll);

    LawStatistics statistics(const std::function<void()>& poll) const;
    static size_t row_bytes(uint32_t num_outputs) { return (size_t{num_outputs} + 7) / 8; }
    // Whether some shots may be discarded.
    bool discards() const {
        return plan_.never_kept || plan_.layout.num_checks + plan_.num_outcome_checks != 0;
    }
    size_t row_bytes() const { return row_bytes(plan_.layout.num_outputs); }
    const Plan& plan() const { return plan_; }
    const Kernels& kernels() const { return kernels_; }

   private:
    struct Worker {
        std::unique_ptr<OutcomeLaws> laws;  // of the common store
        NoiseBlock noise;
        // Scratch of run_piece.
        std::vector<OutcomeLaws::Shot> drawn;
        std::vector<const uint64_t*> drawn_outputs;
        // Scratch of sample_kept.
        std::vector<uint8_t> rows;
    };
    // Calls use(worker, number of the part) for so many parts of the current call, from all threads.
    template <typename Use>
    void run_on_workers(size_t parts, Use use) {
        std::atomic<size_t> next_worker = 0;
        run_parts(parts, workers_.size(), *interruption_,
                  [&] { return [&, &worker = workers_[next_worker++]](size_t part) { use(worker, part); }; });
    }
    // A part of a block: shots [begin, end) of it.
    struct Piece {
        uint64_t block;
        uint32_t begin, end;
    };

    // The number of shots of a piece, for a range of this many blocks. Pieces are small if shots take long and blocks are
    // few, so that all threads have work.
    uint32_t piece_shots(uint64_t blocks) const;
    // The pieces of a range of shots, in order. Some may be empty.
    struct Pieces {
        uint64_t first_block, first_shot, end_shot;
        uint32_t size, per_block;
        uint64_t count;

        Piece operator[](uint64_t number) const;
    };
    Pieces pieces(uint64_t first_shot, uint64_t shots) const;
    // Calls use(worker, piece, number of the piece) for every piece that is not empty, from all threads. An exception in one
    // thread stops all of them.
    void for_each_piece(const Pieces& pieces, const std::function<void(Worker&, const Piece&, uint64_t)>& use);
    // Calls keep(shot of the block, outputs of its row, outputs flipped by its outcomes) for kept shots, and
    // returns how many were kept. Shots that are certain to have all outputs 0 are kept without a call unless
    // `every` is set.
    template <typename Keep>
    uint64_t run_piece(Worker& worker, uint64_t seed, const Piece& piece, bool every, Keep keep,
                       const OutputBytes* bytes = nullptr);
    // Writes the outputs of the kept shots of a piece, calls note(shot of the block) for each of them, and returns how many
    // there are.
    template <typename Note>
    uint64_t write_piece(Worker& worker, uint64_t seed, const Piece& piece, const OutputBytes& bytes, Note note);

    // A call: the turn of its thread, and its interruption.
    class Call {
       public:
        Call(Engine& engine, const std::function<void()>& poll) : turn_(engine.turns_, poll), engine_(engine), interruption_(poll) {
            engine.interruption_ = &interruption_;
        }
        ~Call() { engine_.interruption_ = nullptr; }
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

       private:
        const Turns::Turn turn_;
        Engine& engine_;
        Interruption interruption_;
    };

    mutable Turns turns_{"engine"};
    const Plan plan_;
    const Kernels& kernels_;
    LawStore store_;
    std::vector<Worker> workers_;
    Interruption* interruption_ = nullptr;  // of the current call
};

}  // namespace snc
