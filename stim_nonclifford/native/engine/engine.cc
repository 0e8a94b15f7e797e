#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "base/parallel_parts.h"

namespace snc {

namespace {

// The largest number of blocks per thread between two looks at the number of errors.
constexpr uint64_t wave_blocks = 256;

// From the first width on, 64 shots are enough work for a thread; from the second one on, 8 shots.
constexpr uint32_t long_work_width = 8;
constexpr uint32_t longer_work_width = 16;

// The mask of the outputs in the last word of a row.
uint64_t last_word_mask(uint32_t num_outputs) { return ~uint64_t{0} >> ((64 - num_outputs % 64) % 64); }

// Writes the XOR of two rows of words to the row of a shot; without `outputs`, flips what is there.
void write_row(const OutputBytes& bytes, uint16_t shot, const uint64_t* outputs, const uint64_t* flipped) {
    static_assert(std::endian::native == std::endian::little);
    const size_t end = bytes.row_bytes;
    uint8_t* const to = bytes.row(shot);
    size_t b = 0;
    for (; b + sizeof(uint64_t) < end; b += sizeof(uint64_t)) {
        uint64_t word;
        std::memcpy(&word, outputs != nullptr ? outputs + b / sizeof word : static_cast<const void*>(to + b), sizeof word);
        word ^= flipped[b / sizeof word];
        std::memcpy(to + b, &word, sizeof word);
    }
    if (b == end) return;
    uint64_t word = ((outputs != nullptr ? outputs[b / sizeof word] : 0) ^ flipped[b / sizeof word]) & bytes.last_word;
    // Parts of fixed sizes: a copy of unknown length would be a function call.
    const auto write = [&](auto part) {
        if (((end - b) & sizeof part) == 0) return;
        if (outputs == nullptr) std::memcpy(&part, to + b, sizeof part);
        part ^= static_cast<decltype(part)>(word);
        std::memcpy(to + b, &part, sizeof part);
        b += sizeof part;
        if constexpr (sizeof part < sizeof word) word >>= 8 * sizeof part;
    };
    write(uint64_t{});
    write(uint32_t{});
    write(uint16_t{});
    write(uint8_t{});
}

}  // namespace

// Patterns

PatternCounts::PatternCounts(uint32_t num_outputs)
    : words_(words_for(num_outputs)),
      has_rows_(num_outputs > max_table_bits),
      table_(has_rows_ ? 0 : size_t{1} << num_outputs),
      rows_(words_) {}

void PatternCounts::add(const uint64_t* outputs) {
    const uint64_t place = has_rows_ ? rows_.number_of(outputs) : words_ == 0 ? 0 : outputs[0];
    if (place == table_.size()) table_.push_back(0);
    ++table_[place];
}

void PatternCounts::for_each(const std::function<void(const std::vector<uint64_t>&, uint64_t)>& use) const {
    for (size_t k = 0; k < table_.size(); ++k)
        if (table_[k] != 0) use(has_rows_ ? std::vector(rows_.row(static_cast<uint32_t>(k)), rows_.row(static_cast<uint32_t>(k)) + words_) : std::vector{uint64_t{k}}, table_[k]);
}

// Engine

Engine::Engine(Plan plan, const Kernels& kernels, size_t num_threads, size_t cache_bytes, const std::function<void()>& poll)
    : plan_(std::move(plan)), kernels_(kernels), store_(plan_, cache_bytes), workers_(num_threads) {
    const Call call(*this, poll);
    const auto interrupted = [this] { interruption_->look(); };
    PathSimulation first(plan_, kernels_, interrupted);
    const PathSimulation::Stop zero = first.start_at_zero_signature();
    store_.set_zero_law(zero, first.outputs());
    const auto laws_of = [&](PathSimulation simulation) {
        return std::make_unique<OutcomeLaws>(plan_, std::move(simulation), kernels_, store_, interrupted);
    };
    for (size_t k = 1; k < workers_.size(); ++k) workers_[k].laws = laws_of(PathSimulation(first, interrupted));
    workers_[0].laws = laws_of(std::move(first));
}

uint32_t Engine::piece_shots(uint64_t blocks) const {
    constexpr uint64_t enough = 16;  // for each thread; each part of a block draws the noise of the block again
    if (workers_.size() == 1 || blocks >= enough * workers_.size()) return block_shots;
    if (plan_.dense_width >= longer_work_width) return block_shots / 128;
    return plan_.dense_width >= long_work_width ? block_shots / 16 : block_shots;
}

Engine::Pieces Engine::pieces(uint64_t first_shot, uint64_t shots) const {
    const uint64_t first_block = first_shot / block_shots, end_shot = first_shot + shots;
    const uint64_t end_block = (end_shot + block_shots - 1) / block_shots;
    const uint64_t blocks = shots == 0 ? 0 : end_block - first_block;
    const uint32_t size = piece_shots(blocks);
    return {first_block, first_shot, end_shot, size, block_shots / size, blocks * (block_shots / size)};
}

Engine::Piece Engine::Pieces::operator[](uint64_t number) const {
    const uint64_t block = first_block + number / per_block, start = block * block_shots;
    const uint64_t begin = start + number % per_block * size;
    const auto within = [&](uint64_t shot) {
        return static_cast<uint32_t>(std::clamp(shot, first_shot, end_shot) - start);
    };
    return {block, within(begin), within(begin + size)};
}

void Engine::for_each_piece(const Pieces& pieces, const std::function<void(Worker&, const Piece&, uint64_t)>& use) {
    store_.forget_old_tables();
    // Starting a thread takes as long as several pieces of a circuit with little quantum work.
    const uint64_t pieces_per_thread = plan_.dense_width >= long_work_width ? 1 : 64;
    const uint64_t useful = (pieces.count + pieces_per_thread - 1) / pieces_per_thread;
    std::atomic<size_t> next_worker = 0;
    run_parts(pieces.count, std::min<uint64_t>(workers_.size(), useful), *interruption_, [&] {
        return [&, &worker = workers_[next_worker++]](uint64_t k) {
            if (const Piece piece = pieces[k]; piece.begin < piece.end) use(worker, piece, k);
        };
    });
}

template <typename Keep>
uint64_t Engine::run_piece(Worker& worker, uint64_t seed, const Piece& piece, bool every, Keep keep,
                           const OutputBytes* bytes) {
    if (plan_.never_kept) return 0;
    const RowLayout& layout = plan_.layout;
    NoiseBlock& noise = worker.noise;
    noise.output_bytes = plan_.has_register_rows() ? nullptr : bytes;
    kernels_.sample_noise(plan_, seed, piece.block, piece.begin, piece.end, noise);
    const uint64_t first_shot = piece.block * block_shots;
    uint64_t kept = 0;

    // Shots whose outcomes have to be drawn, and the outputs of their rows.
    std::vector<OutcomeLaws::Shot>& drawn = worker.drawn;
    std::vector<const uint64_t*>& drawn_outputs = worker.drawn_outputs;
    drawn.clear();
    drawn_outputs.clear();

    const LawStore::Ref certain_leaf = store_.certain_zero_leaf();
    const bool is_certain = certain_leaf != LawStore::Ref::none;
    const auto finish_certain = [&](uint16_t shot, const uint64_t* outputs) {
        if (!LawStore::is_kept(certain_leaf)) return;
        keep(shot, outputs, store_.outputs_of(certain_leaf));
        ++kept;
    };
    const auto finish = [&](uint16_t shot, const uint64_t* signature_words, const uint64_t* outputs) {
        const std::span<const uint64_t> signature(signature_words, layout.signature_words);
        if (is_certain && LawStore::is_zero(signature)) return finish_certain(shot, outputs);
        drawn.push_back({signature, first_shot + shot});
        drawn_outputs.push_back(outputs);
    };

    const uint64_t *const constant = plan_.constant.data(), *const constant_outputs = constant + layout.first_output_word();
    const auto is_zero_word = [](uint64_t word) { return word == 0; };
    const bool event_free_passes = std::all_of(constant, constant + layout.check_words, is_zero_word);
    if (event_free_passes && is_certain) {
        if (!every && LawStore::is_kept(certain_leaf) && std::equal(constant_outputs, constant + layout.words(), store_.outputs_of(certain_leaf)))
            kept += noise.num_event_free;
        else
            for (uint32_t k = 0; k < noise.num_event_free; ++k) finish_certain(noise.event_free[k], constant_outputs);
    } else if (event_free_passes && noise.num_event_free != 0) {
        uint16_t cells[block_shots], open[block_shots];
        kernels_.draw_outcome_cells(seed, first_shot, noise.event_free, noise.num_event_free, cells);
        uint32_t num_open = 0;
        if (!every && std::all_of(constant_outputs, constant + layout.words(), is_zero_word)) {
            // Most shots are counted here, without a branch.
            for (uint32_t k = 0; k < noise.num_event_free; ++k) {
                const LawStore::Ref leaf = store_.zero_leaf_of(cells[k]);
                const bool is_counted = LawStore::is_kept_without_flips(leaf);
                kept += is_counted;
                open[num_open] = noise.event_free[k];
                num_open += !is_counted && LawStore::is_kept(leaf);
            }
        } else {
            for (uint32_t k = 0; k < noise.num_event_free; ++k) {
                const LawStore::Ref leaf = store_.zero_leaf_of(cells[k]);
                if (leaf == LawStore::Ref::none) {
                    open[num_open++] = noise.event_free[k];
                } else if (LawStore::is_kept(leaf)) {
                    keep(noise.event_free[k], constant_outputs, store_.outputs_of(leaf));
                    ++kept;
                }
            }
        }
        for (uint32_t k = 0; k < num_open; ++k) finish(open[k], constant + layout.check_words, constant_outputs);
    }
    if (noise.output_bytes == nullptr) {
        for (uint32_t k = 0; k < noise.num_shots; ++k) {
            const uint64_t* const row = noise.rows.data() + size_t{k} * layout.words();
            finish(noise.shots[k], row + layout.check_words, row + layout.first_output_word());
        }
    } else {
        // The outputs of the row are written already.
        for (uint32_t k = 0; k < noise.num_shots; ++k)
            finish(noise.shots[k], noise.rows.data() + size_t{k} * layout.signature_words, nullptr);
    }
    worker.laws->sample(drawn, seed, [&](size_t k, const OutcomeLaws::Result& result) {
        if (!result.kept) return;
        keep(static_cast<uint16_t>(drawn[k].number - first_shot), drawn_outputs[k], result.outputs);
        ++kept;
    });
    return kept;
}

// Blocks are drawn in waves, all threads at once, and counted in order. What a wave has drawn beyond the last block that
// counts is dropped.
Tally Engine::count(uint64_t seed, uint64_t first_shot, uint64_t shots, uint64_t max_errors, bool list_errors,
                    const std::function<void()>& poll) {
    const Call call(*this, poll);
    const uint64_t most_errors = max_errors == 0 ? UINT64_MAX : max_errors, most_blocks = wave_blocks * workers_.size();
    const uint32_t words = plan_.layout.output_words;
    const uint64_t first_block = first_shot / block_shots, end_shot = first_shot + shots;
    const uint64_t end_block = shots == 0 ? first_block : (end_shot + block_shots - 1) / block_shots;
    Tally total(plan_.layout.num_outputs);
    uint64_t block = first_block;
    while (block < end_block && total.errors < most_errors) {
        // Waves grow, so that frequent errors do not draw many blocks that do not count.
        const uint64_t wanted = max_errors == 0 ? most_blocks : std::max<uint64_t>(workers_.size(), block - first_block);
        const uint64_t end = std::min(end_block, block + std::min(wanted, most_blocks));
        const uint64_t from = std::max(first_shot, block * block_shots), to = std::min(end_shot, end * block_shots);
        // For each error the number of the shot, then the words of its outputs.
        std::vector<std::vector<uint64_t>> found(workers_.size());
        std::vector<std::atomic<uint64_t>> kept(end - block), errors(end - block);
        for_each_piece(
            pieces(from, to - from),
            [&](Worker& worker, const Piece& piece, uint64_t) {
                std::vector<uint64_t>& list = found[static_cast<size_t>(&worker - workers_.data())];
                const size_t before = list.size();
                kept[piece.block - block] +=
                    run_piece(worker, seed, piece, false, [&](uint16_t shot, const uint64_t* outputs, const uint64_t* flipped) {
                        uint64_t any = 0;
                        for (uint32_t w = 0; w < words; ++w) any |= outputs[w] ^ flipped[w];
                        if (any == 0) return;
                        list.push_back(piece.block * block_shots + shot);
                        for (uint32_t w = 0; w < words; ++w) list.push_back(outputs[w] ^ flipped[w]);
                    });
                errors[piece.block - block] += (list.size() - before) / (1 + words);
            });
        const uint64_t start = block;
        uint64_t kept_shots = 0;
        for (; block < end && total.errors < most_errors; ++block) {
            total.errors += errors[block - start];
            kept_shots += kept[block - start];
        }
        const uint64_t counted_end = std::min(to, block * block_shots);
        total.shots += counted_end - from;
        total.discards += counted_end - from - kept_shots;
        for (const std::vector<uint64_t>& list : found) {
            for (size_t k = 0; k < list.size(); k += 1 + words) {
                if (list[k] >= counted_end) continue;
                total.patterns.add(&list[k + 1]);
                if (list_errors) total.error_shots.push_back(list[k]);
            }
        }
    }
    std::ranges::sort(total.error_shots);
    return total;
}

template <typename Note>
uint64_t Engine::write_piece(Worker& worker, uint64_t seed, const Piece& piece, const OutputBytes& bytes, Note note) {
    return run_piece(
        worker, seed, piece, true,
        [&](uint16_t shot, const uint64_t* outputs, const uint64_t* flipped) {
            note(shot);
            if (outputs != nullptr || flipped != store_.no_flips()) write_row(bytes, shot, outputs, flipped);
        },
        &bytes);
}

void Engine::sample(uint64_t seed, uint64_t first_shot, uint64_t shots, uint32_t num_outputs, uint8_t* out,
                    const std::function<void()>& poll) {
    if (num_outputs == 0) return;
    const Call call(*this, poll);
    for_each_piece(
        pieces(first_shot, shots),
        [&](Worker& worker, const Piece& piece, uint64_t) {
            const OutputBytes bytes{out, piece.block * block_shots - first_shot, row_bytes(num_outputs),
                                    last_word_mask(num_outputs)};
            write_piece(worker, seed, piece, bytes, [](uint16_t) {});
        });
}

KeptRows Engine::sample_kept(uint64_t seed, uint64_t first_shot, uint64_t shots, const std::function<void()>& poll) {
    const Call call(*this, poll);
    const Pieces all = pieces(first_shot, shots);
    const size_t bytes = row_bytes();
    std::vector<KeptRows> parts(all.count);
    for_each_piece(
        all,
        [&](Worker& worker, const Piece& piece, uint64_t k) {
            // Shots arrive in any order: write each row to its place, then join the rows of kept shots.
            worker.rows.resize(block_shots * bytes);
            std::vector<bool> is_kept(block_shots);
            const OutputBytes to{worker.rows.data(), 0, bytes, last_word_mask(plan_.layout.num_outputs)};
            write_piece(worker, seed, piece, to, [&](uint16_t shot) { is_kept[shot] = true; });
            for (uint32_t shot = 0; shot < block_shots; ++shot)
                if (is_kept[shot]) {
                    parts[k].rows.insert(parts[k].rows.end(), to.row(shot), to.row(shot + 1));
                    parts[k].shots.push_back(int64_t(piece.block * block_shots + shot));
                }
        });
    KeptRows result;
    size_t kept = 0;
    for (const KeptRows& part : parts) kept += part.shots.size();
    result.rows.reserve(kept * bytes);
    result.shots.reserve(kept);
    for (KeptRows& part : parts) {
        result.rows.insert(result.rows.end(), part.rows.begin(), part.rows.end());
        result.shots.insert(result.shots.end(), part.shots.begin(), part.shots.end());
        part = {};
    }
    return result;
}

std::vector<uint64_t> Engine::rows(uint64_t seed, uint64_t first_shot, uint64_t shots, const std::function<void()>& poll) {
    const Call call(*this, poll);
    const uint32_t words = plan_.layout.words();
    std::vector<uint64_t> found(shots * words);
    for_each_piece(pieces(first_shot, shots), [&](Worker& worker, const Piece& piece, uint64_t) {
        NoiseBlock& noise = worker.noise;
        noise.output_bytes = nullptr;
        kernels_.sample_noise(plan_, seed, piece.block, piece.begin, piece.end, noise);
        const auto row_of = [&](uint16_t shot) { return found.data() + (piece.block * block_shots + shot - first_shot) * words; };
        for (uint32_t k = 0; k < noise.num_event_free; ++k) std::copy_n(plan_.constant.data(), words, row_of(noise.event_free[k]));
        for (uint32_t k = 0; k < noise.num_shots; ++k) std::copy_n(noise.rows.data() + size_t{k} * words, words, row_of(noise.shots[k]));
    });
    return found;
}

std::vector<uint64_t> Engine::outcomes(const std::vector<uint64_t>& signatures, const std::vector<uint64_t>& numbers, uint64_t seed,
                                       const std::function<void()>& poll) {
    const Call call(*this, poll);
    const size_t part_shots = plan_.dense_width >= long_work_width ? 64 : 4096;
    const uint32_t signature_words = plan_.layout.signature_words, output_words = plan_.layout.output_words;
    std::vector<uint64_t> found(numbers.size() * output_words);
    store_.forget_old_tables();
    run_on_workers((numbers.size() + part_shots - 1) / part_shots, [&](Worker& worker, size_t part) {
        const size_t begin = part * part_shots, end = std::min(begin + part_shots, numbers.size());
        std::vector<OutcomeLaws::Shot>& drawn = worker.drawn;
        drawn.clear();
        for (size_t k = begin; k < end; ++k)
            drawn.push_back({{signatures.data() + k * signature_words, signature_words}, numbers[k]});
        worker.laws->sample(drawn, seed, [&](size_t k, const OutcomeLaws::Result& result) {
            std::copy_n(result.outputs, output_words, found.data() + (begin + k) * output_words);
        });
    });
    return found;
}

LawStatistics Engine::statistics(const std::function<void()>& poll) const {
    const Turns::Turn turn(turns_, poll);
    LawStatistics total = store_.statistics();
    for (const Worker& worker : workers_) total += worker.laws->statistics();
    return total;
}

}  // namespace snc
