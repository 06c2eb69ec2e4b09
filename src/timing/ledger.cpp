#include "timing/ledger.h"

#include <algorithm>
#include <bit>

namespace asmevo::timing {

Ledger::Ledger(size_t instructions, size_t timeline) : timeline_(timeline) {
  account_.attribution.resize(instructions);
}

void Ledger::launch(uint32_t wave, unsigned simd, uint64_t workgroup, uint32_t number, int64_t now) {
  if (wave >= books_.size()) books_.resize(wave + 1);
  Book& book = books_[wave];
  book = {};
  book.simd = simd;
  book.slot = static_cast<unsigned>(std::countr_one(slots_[simd]));
  book.workgroup = workgroup;
  book.number = number;
  book.last_begin = book.last_end = book.prepared = now;
  book.rows.fill(nobody);
  if (book.slot < 32) slots_[simd] |= 1u << book.slot;
}

void Ledger::retire(uint32_t wave) {
  const Book& book = books_[wave];
  if (book.slot < 32) slots_[book.simd] &= ~(1u << book.slot);
}

void Ledger::wrote(uint32_t wave, RowRange rows, uint32_t instruction) {
  std::fill_n(books_[wave].rows.begin() + rows.first, rows.count, instruction);
}

// Vector memory returns in order, so a wait for one that was done long ago is a wait for the one before it.
void Ledger::counted_vm(uint32_t wave, uint64_t number, uint32_t instruction, bool done_with_the_one_before) {
  auto& vm = books_[wave].vm;
  vm[number % 64] = done_with_the_one_before ? vm[(number + 63) % 64] : instruction;
}

void Ledger::counted_lgkm(uint32_t wave, uint64_t number, uint32_t instruction, bool latest) {
  books_[wave].lgkm[number % 16] = instruction;
  if (latest) books_[wave].lgkm_latest = instruction;
}

void Ledger::prepare(uint32_t wave, int64_t now) {
  books_[wave].prepared = now;
  books_[wave].producer = nobody;
}

void Ledger::record(const Book& book, uint32_t instruction, bool issue, Stall reason, int64_t begin, int64_t end) {
  if (end <= begin || account_.timeline.size() >= timeline_) return;
  account_.timeline.push_back({.workgroup = book.workgroup,
                               .wave = book.number,
                               .simd = book.simd,
                               .slot = book.slot,
                               .instruction = instruction,
                               .issue = issue,
                               .reason = reason,
                               .begin = begin,
                               .end = end});
}

Ledger::Edge* Ledger::edge(const Book& book, uint32_t consumer, Stall reason) {
  return book.producer == nobody ? nullptr : &edges_[{consumer, book.producer, reason}];
}

void Ledger::stalled(uint32_t wave, uint32_t instruction, const Hold& hold, int64_t begin, int64_t end) {
  Book& book = books_[wave];
  auto& stalls = account_.attribution[instruction].stall_cycles;
  const int64_t ready = std::clamp(hold.ready, begin, end);
  const int64_t queued = std::clamp<int64_t>(hold.queued, 0, ready - begin);
  stalls[size_t(hold.queue_reason)] += double(queued);
  stalls[size_t(hold.reason)] += double(ready - begin - queued);
  stalls[size_t(hold.blocked)] += double(end - ready);
  record(book, instruction, false, hold.queue_reason, begin, begin + queued);
  record(book, instruction, false, hold.reason, begin + queued, ready);
  record(book, instruction, false, hold.blocked, ready, end);
  if (instruction == book.last && begin == book.last_end) book.after = hold.reason; // a branch's fetch, a barrier
  if (Edge* e = ready > begin ? edge(book, instruction, hold.reason) : nullptr) e->cycles += double(ready - begin);
}

void Ledger::issued(uint32_t wave, uint32_t instruction, int64_t begin, int64_t end) {
  Book& book = books_[wave];
  Attribution& a = account_.attribution[instruction];
  ++a.issues;
  a.issue_cycles += double(end - begin);
  book.last = instruction;
  book.last_begin = begin;
  book.last_end = end;
  book.producer = nobody;
  record(book, instruction, true, Stall::count_, begin, end);
}

void Ledger::issues(uint32_t wave, uint32_t instruction, const Hold& hold, int64_t now) {
  const Book& book = books_[wave];
  if (accounted_[book.simd] < now) expose(book, instruction, hold, accounted_[book.simd], now);
  accounted_[book.simd] = std::max(accounted_[book.simd], now);
  issuing_.push_back(instruction);
}

// [from, to) of a SIMD on which nobody issued until this wave does at `to`.
void Ledger::expose(const Book& book, uint32_t instruction, const Hold& hold, int64_t from, int64_t to) {
  int64_t at = from;
  const auto until = [&](int64_t end) {
    const int64_t amount = std::max<int64_t>(0, std::min(end, to) - at);
    at += amount;
    return amount;
  };
  account_.dispatch_cycles += double(until(book.last_begin)); // only a new wave's is later than `from`
  if (book.last != nobody) {
    Attribution& last = account_.attribution[book.last];
    last.busy_cycles += double(until(book.last_end)); // the rest of a nop
    last.exposed_cycles[size_t(book.after)] += double(until(book.prepared));
  }
  const int64_t waited = until(hold.ready);
  auto& exposed = account_.attribution[instruction].exposed_cycles;
  // Shortening the queue or the latency would both end the silence earlier.
  const int64_t whole = hold.ready - book.prepared;
  const int64_t queued = whole > 0 ? waited * std::clamp<int64_t>(hold.queued, 0, whole) / whole : 0;
  exposed[size_t(hold.queue_reason)] += double(queued);
  exposed[size_t(hold.reason)] += double(waited - queued);
  exposed[size_t(hold.blocked)] += double(until(to));
  if (Edge* e = waited ? edge(book, instruction, hold.reason) : nullptr) e->exposed += double(waited);
}

// The four clocks of a turn are dealt to those that issued in it.
void Ledger::end_turn(unsigned simd, int64_t now) {
  if (issuing_.empty()) return;
  const int64_t clocks = std::max<int64_t>(0, now + 4 - accounted_[simd]);
  for (int64_t c = 0; c < clocks; ++c) account_.attribution[issuing_[deal_++ % issuing_.size()]].busy_cycles += 1;
  accounted_[simd] = now + 4;
  issuing_.clear();
}

Account Ledger::close(int64_t end) {
  for (const int64_t until : accounted_) account_.drain_cycles += double(end - until);
  for (const auto& [key, e] : edges_) {
    const auto [consumer, producer, reason] = key;
    account_.dependences.push_back(
        {.producer = producer, .consumer = consumer, .reason = reason, .cycles = e.cycles, .exposed = e.exposed});
  }
  return std::move(account_);
}

} // namespace asmevo::timing
