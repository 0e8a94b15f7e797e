#include "cpu/kernels.h"

#include <cstdlib>
#include <stdexcept>

namespace snc {

namespace {

std::vector<const Kernels*> supported() {
    std::vector<const Kernels*> found = {&generic::table};
#ifdef SNC_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
        found.push_back(&avx2::table);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        found.push_back(&avx512::table);
#endif
    return found;
}

}  // namespace

std::vector<std::string> available_instruction_sets() {
    std::vector<std::string> names;
    for (const Kernels* table : supported()) names.emplace_back(table->name);
    return names;
}

const Kernels& kernels_named(const std::string& name) {
    std::string known;
    for (const Kernels* table : supported()) {
        if (name == table->name) return *table;
        known += known.empty() ? table->name : std::string(", ") + table->name;
    }
    throw std::invalid_argument("There is no instruction set '" + name + "' on this machine; there are: " + known + ".");
}

const Kernels& kernels() {
    const char* wanted = std::getenv("STIM_NONCLIFFORD_ISA");
    return wanted != nullptr ? kernels_named(wanted) : *supported().back();
}

}  // namespace snc
