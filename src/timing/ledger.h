// Where the clocks of a simulation went, kept beside it and only where somebody asked.
//
// There are two books. The waves' book charges every clock of every wave's residence to the instruction the wave is at,
// and to issuing it or to what it waits for. It says what each instruction costs the wave that executes it; but clocks
// that other waves fill cost the kernel nothing. The SIMDs' book charges every clock of every SIMD from the kernel's
// begin to its end. In a turn, the clocks go to the instructions that issue in it. While no wave of the SIMD is ready,
// they go to the wave that issues next, since it is the one whose wait ends the silence: to what it did and waited for
// in that time. So the SIMDs' book says what the kernel's time is made of.
//
// All amounts are whole clocks, so both books balance exactly.
#pragma once

#include "timing/static_table.h"

#include <map>

namespace asmevo::timing {

/// What a wave waits for before it issues: [begin, ready) `reason`, of which `queued` clocks in a queue; from then on
/// `blocked`.
struct Hold {
  int64_t ready = 0;
  Stall reason = Stall::fetch;
  int64_t queued = 0;
  Stall queue_reason = Stall::memory_throughput;
  Stall blocked = Stall::not_selected;
};

struct Account {
  std::vector<Attribution> attribution;
  std::vector<Dependence> dependences;
  double dispatch_cycles = 0, drain_cycles = 0;
  std::vector<Slice> timeline;
};

/// Waves are named by their place in the compute unit's table, which another wave takes after its end.
class Ledger {
public:
  static constexpr uint32_t nobody = 0xffffffff;

  /// `timeline`: so many slices are kept, the first ones.
  Ledger(size_t instructions, size_t timeline);

  void launch(uint32_t wave, unsigned simd, uint64_t workgroup, uint32_t number, int64_t now);
  void retire(uint32_t wave);

  // who a later wait is for.
  void wrote(uint32_t wave, RowRange rows, uint32_t instruction);
  void counted_vm(uint32_t wave, uint64_t number, uint32_t instruction, bool done_with_the_one_before);
  void counted_lgkm(uint32_t wave, uint64_t number, uint32_t instruction, bool latest);
  uint32_t writer(uint32_t wave, unsigned row) const { return books_[wave].rows[row]; }
  uint32_t vm(uint32_t wave, uint64_t number) const { return books_[wave].vm[number % 64]; }
  uint32_t lgkm(uint32_t wave, uint64_t number) const { return books_[wave].lgkm[number % 16]; }
  uint32_t lgkm_latest(uint32_t wave) const { return books_[wave].lgkm_latest; }

  // the waves' book.
  /// From `now` on the wave waits for its next instruction.
  void prepare(uint32_t wave, int64_t now);
  void waits_for(uint32_t wave, uint32_t producer) { books_[wave].producer = producer; }
  void stalled(uint32_t wave, uint32_t instruction, const Hold& hold, int64_t begin, int64_t end);
  void issued(uint32_t wave, uint32_t instruction, int64_t begin, int64_t end);

  // the SIMDs' book.
  /// In the turn at `now`; before issued().
  void issues(uint32_t wave, uint32_t instruction, const Hold& hold, int64_t now);
  void end_turn(unsigned simd, int64_t now);

  Account close(int64_t end);

private:
  static constexpr unsigned simds = 4;
  struct Book {
    unsigned simd = 0, slot = 0;
    uint64_t workgroup = 0;
    uint32_t number = 0;
    uint32_t last = nobody;                 // instruction
    int64_t last_begin = 0, last_end = 0;   // of its issue
    Stall after = Stall::fetch;             // what it was charged until `prepared`
    int64_t prepared = 0;                   // begin of the wait for the next instruction
    uint32_t producer = nobody;             // that this wait is for
    std::array<uint32_t, row_count> rows{}; // instruction that wrote a row last
    std::array<uint32_t, 64> vm{};
    std::array<uint32_t, 16> lgkm{};
    uint32_t lgkm_latest = nobody;
  };
  struct Edge {
    double cycles = 0, exposed = 0;
  };

  void record(const Book& book, uint32_t instruction, bool issue, Stall reason, int64_t begin, int64_t end);
  void expose(const Book& book, uint32_t instruction, const Hold& hold, int64_t from, int64_t to);
  Edge* edge(const Book& book, uint32_t consumer, Stall reason);

  Account account_;
  size_t timeline_;
  std::vector<Book> books_;
  std::map<std::tuple<uint32_t, uint32_t, Stall>, Edge> edges_; // consumer, producer
  std::array<uint32_t, simds> slots_{};                         // taken, a bit each
  std::array<int64_t, simds> accounted_{};                      // until when a SIMD's clocks are charged
  std::vector<uint32_t> issuing_;                               // in this turn
  unsigned deal_ = 0;
};

} // namespace asmevo::timing
