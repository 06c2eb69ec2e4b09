// Where memory instructions go: base, affine offset, alignment, and how accesses relate.
//
// From what registers hold (register_values.h) follows what an instruction's address is: a base that is known by name
// (a pointer among the kernel's arguments, LDS, scratch, ...) plus a sum of symbols. Two questions are then easy that
// the text of two instructions cannot answer: how far their addresses are apart, and how far neighbouring lanes are.
//
// Relations are those of one execution of a block: of two items of different blocks nothing is said. `one_lane` asks
// about the two accesses of the same lane, as compilers do for memory in which lanes have no business with each other
// between synchronisations; `any_lanes` about every pair of lanes of one wave, for LDS, where they have.
//
// Of pointers among the kernel's arguments nothing is known but where they come from: neither alignment nor that two
// lead to different memory. A host may pass one buffer twice, and K0 then does something definite. Only where the
// policy says that arguments do not alias are accesses through different pointers disjoint. Metadata is no such
// statement:
// `.access` and `.actual_access` speak of one argument, and `.is_restrict` of the source, which the binary need not
// obey.
//
// Taken for granted besides what register_values.h says: what is accessed lies below 2^48, as buffer resources suppose.
#pragma once

#include "analysis/memory.h"
#include "analysis/register_values.h"

namespace asmevo::analysis {

struct AliasPolicy {
  bool arguments_are_distinct = false; // pointers among the kernel's arguments lead to memory of their own
};

enum class BaseKind : uint8_t { unknown, kernarg_pointer, kernarg_segment, image, lds, scratch };

struct Address {
  size_t item = 0;
  Space space = Space::none;
  BaseKind base = BaseKind::unknown;
  uint32_t kernarg = 0;     // kernarg_pointer: byte offset of the argument
  bool is_argument = false; // likewise: metadata says that it is a pointer to a buffer
  /// Base included; offset fields of the instruction not, which are in `access`. Holds modulo 2^bits.
  FormId form = 0;
  uint8_t bits = 64;
  /// Buffers whose offset may wrap: the address is this sum of base, soffset and records, plus what `form` and the
  /// offset field make modulo 2^32. Elsewhere nothing.
  std::optional<FormId> origin;
  /// Of a buffer of unknown stride or swizzle `origin` is only a name: equal ones and different offsets are different
  /// places.
  bool named_origin = false;
  uint8_t back = 0; // bytes before that which may be meant: scalar accesses drop low bits of what may not be aligned
  MemoryAccess access;
};

enum class Relation : uint8_t { unknown, disjoint, overlapping };
enum class Lanes : uint8_t { one_lane, any_lanes };

struct Stride {
  int64_t bytes = 0;
  bool may_wrap = false; // an index of 32 bits on the way may wrap between two lanes
  bool operator==(const Stride&) const = default;
};

class Addresses {
public:
  Addresses(const recover::Program& program, const recover::Function& function, Graph graph, AliasPolicy policy = {});
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  /// Of memory instructions that an entry reaches, in order; empty where registers cannot be followed.
  const std::vector<Address>& all() const { return addresses_; }
  /// Null where nothing is known.
  const Address* at(size_t item) const;

  /// `second` is executed after `first`, in the same execution of their block.
  Relation relation(size_t first, size_t second, Lanes lanes) const;
  /// Whether two accesses are disjoint as their kinds of memory ask for it, and plain (memory.h): then they may trade
  /// places. In LDS lanes meet, and a scalar access is made for all of them: there every pair of lanes counts.
  bool may_trade_places(size_t first, size_t second) const;
  /// Bytes from the first's address to the second's, in each lane; where it is a constant.
  std::optional<int64_t> distance(size_t first, size_t second) const;
  /// From one work-item to the next along x; nothing where the address is not a sum in which only that counts.
  std::optional<Stride> lane_stride(const Address& address) const;
  bool is_uniform(const Address& address) const;
  /// Largest power of two up to 4096 that divides the address (`whole`) or its distance from the base.
  uint32_t alignment(const Address& address, bool whole) const;

  RegisterValues& values() const { return values_; }
  const Graph& graph() const { return graph_; }

private:
  class Resolver;
  bool comparable(const Address& a, const Address& b, Lanes lanes) const;
  std::optional<Interval> spread(const Address& a, const Address& b, Lanes lanes) const;

  Graph graph_;
  size_t first_;
  AliasPolicy policy_;
  mutable RegisterValues values_; // interns what questions need
  std::vector<Address> addresses_;
};

/// "arg+8", "lds", "kernarg"; "unknown".
std::string base_text(const Address& address);
/// What is added to the base, offset fields included: "4*item.x + 16".
std::string offset_text(const Addresses& addresses, const Address& address, const recover::Program& program);

} // namespace asmevo::analysis
