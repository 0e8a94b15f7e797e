// Outcomes of shots whose signatures get more bits on the way, as a decoder decides: each pass goes on where the last one ended.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/engine.h"
#include "simulation/batch_simulation.h"

namespace snc {

class OutcomePasses {
   public:
    // Whether the shots of a plan can be simulated in passes that read these outputs, [passes][words of the outputs]. After a pass,
    // these bits of a signature may change, [passes][words of a signature]: no operation that was simulated then may depend on them.
    static bool suits(const Plan& plan, const std::vector<uint64_t>& read, const std::vector<uint64_t>& bits);

    // Signatures, numbers and seed as in Engine::outcomes. The engine is used in each call.
    OutcomePasses(Engine& engine, const std::vector<uint64_t>& signatures, const std::vector<uint64_t>& numbers, uint64_t seed,
                  const std::function<void()>& poll);

    // The outputs that outcomes flip, [shots][words of the outputs]. They are right for the outputs that are read, [words of the
    // outputs], which must not be fewer than before.
    std::vector<uint64_t> draw(const std::vector<uint64_t>& read, const std::function<void()>& poll);

    size_t num_shots() const { return num_shots_; }
    const RowLayout& layout() const { return engine_.plan().layout; }

    // XORs bits into the signatures, [shots][words of a signature].
    void flip(const std::vector<uint64_t>& bits);

   private:
    Engine& engine_;
    size_t num_shots_;
    std::vector<BatchSimulation::Suspended> batches_;
};

}  // namespace snc
