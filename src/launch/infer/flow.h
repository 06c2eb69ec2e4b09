// Where arguments and loaded values go, along the path that waves took.
//
// Metadata gives an argument four bytes and perhaps a name. What it means is in what becomes of it: it is added into
// addresses (a stride), compared with an index (a guard or the bound of a loop), divided by, or multiplied into floats.
// The same question asked of loaded values finds the buffers that hold indexes, and types that only show behind LDS: a
// tile goes from memory to LDS, and from there to a matrix instruction which names the type at last.
//
// A trace is straight-line code, so following values needs no control flow: registers carry what they came from, each
// instruction hands the union of its sources to its results.
#pragma once

#include "launch/infer/element_type.h"

#include <set>

namespace asmevo::launch {

/// What a scalar argument is used for; several at once.
enum Use : unsigned { use_address = 1, use_guard = 2, use_bound = 4, use_divisor = 8, use_float = 16 };
/// "strides, guards"; empty for 0.
std::string names_of_uses(unsigned uses);

struct Flow {
  std::map<uint32_t, unsigned> uses;   // by kernarg offset of the scalar's dword: Use
  std::set<uint32_t> indexes;          // pointers whose content becomes addresses, in memory or in LDS
  std::set<uint32_t> moved;            // pointers between which content is moved as it is: any type will do
  std::map<uint32_t, TypeVotes> types; // of pointers: elements, as their values are used or made
};

/// Kernarg dwords that are in SGPRs when a wave starts: `count` of them from byte `offset` on, in s[first:].
struct Preloaded {
  uint32_t first = 0, count = 0, offset = 0;
};

/// Follows all waves of a trace that belong to one workgroup.
void follow(const machine::Image& image, const machine::Trace& trace, uint32_t workgroup, const Owner& owner,
            uint64_t kernarg, const Preloaded& preloaded, Flow& flow);

} // namespace asmevo::launch
