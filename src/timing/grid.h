// The grid: what a few traced workgroups say about all the others.
//
// Functional tracing of a whole grid would cost more than the timing itself, and is not needed: the addresses of almost
// every instruction move with the workgroup id by a constant along each dimension. The sampled set contains neighbours
// along each dimension, so these constants can be read off, and the other samples test them. From there any workgroup
// can stand in for any other of the same kind: its events, shifted. The same constants say how many compute units use
// a line (a matrix row that all workgroups of a row of the grid read), which decides what reaches memory.
//
// Instructions whose addresses do not follow such a rule (gathers, swizzled workgroup ids) count as touching lines of
// their own in each workgroup.
#pragma once

#include "timing/device_table.h"
#include "timing/memory_path.h"
#include "timing/patterns.h"
#include "timing/static_table.h"

namespace asmevo::timing {

using Coordinates = std::array<int64_t, 3>;

/// How the addresses of one instruction follow the workgroup id.
struct AddressRule {
  std::array<int64_t, 3> step{}; // bytes a step along x, y, z
  bool seen = false;             // occurs in the traces with an address
  bool regular = true;           // the samples agree with `step`
  bool table = false;            // not regular, and all samples roam the same range
};

struct SampledGroup {
  uint32_t id = 0;
  Coordinates at{};
  std::vector<const machine::WaveTrace*> waves; // by wave number
  uint64_t events = 0;
};

class Grid {
public:
  /// `resident`: workgroups on a compute unit at a time.
  Grid(const machine::Trace& trace, std::array<uint32_t, 3> workgroups, const StaticTable& code,
       const PatternTable& patterns, const DeviceTable& device, uint32_t resident);

  uint64_t count() const { return count_; }
  const std::vector<SampledGroup>& samples() const { return samples_; }
  Coordinates coordinates(uint64_t id) const;
  /// Index of the sample that stands for workgroup `id`: on the same borders of the grid, then nearest by id.
  uint32_t stand_in(uint64_t id) const;
  /// What to add to the addresses of `instruction` when workgroup `id` runs as a copy of a sample `displacement` away.
  int64_t shift(uint32_t instruction, const Coordinates& displacement, uint64_t id) const;
  Sharing sharing(uint32_t instruction) const { return sharing_[instruction]; }
  const std::vector<AddressRule>& rules() const { return rules_; }

  /// The same launch with `to` in the place of its trace `from`, the same waves in the same order, and with code at
  /// other addresses; what was added behind that code is taken to be executed. Waves that nobody looks at may be empty.
  Grid retraced(const machine::Trace& from, const machine::Trace& to, const StaticTable& code) const;

  /// Lines of code that the samples execute, ascending.
  const std::vector<uint64_t>& code_lines() const { return code_lines_; }
  /// Bytes that the whole grid touches at least once, in lines.
  double footprint() const { return footprint_; }
  /// Of that, what one XCD touches.
  double xcd_footprint() const { return xcd_footprint_; }
  /// Of that, the lines that some access uses which is not streamed.
  double kept_xcd_footprint() const { return kept_xcd_footprint_; }
  /// Average number of CUs of an XCD that use a line, weighted by accesses.
  double mean_xcd_sharing() const { return mean_xcd_sharing_; }
  /// Executed instructions of an average workgroup of the grid.
  double mean_events() const { return mean_events_; }

private:
  void collect(const machine::Trace& trace);
  void find_executed(size_t code_size);
  void find_code_lines(const StaticTable& code);
  void learn_steps(const PatternTable& patterns);
  void find_tables(const PatternTable& patterns);
  void compute_sharing(const DeviceTable& device, uint32_t resident);
  void compute_footprint(const machine::Trace& trace, const PatternTable& patterns, const StaticTable& code,
                         uint32_t xcds);
  void compute_means(const PatternTable& patterns);
  int borders(const Coordinates& at) const;

  std::array<uint32_t, 3> shape_;
  uint64_t count_ = 1;
  std::vector<SampledGroup> samples_;
  std::vector<AddressRule> rules_;
  std::vector<Sharing> sharing_;
  std::vector<bool> executed_; // by instruction
  std::vector<uint64_t> code_lines_;
  double footprint_ = 0, xcd_footprint_ = 0, kept_xcd_footprint_ = 0, mean_xcd_sharing_ = 1, mean_events_ = 0;
};

} // namespace asmevo::timing
