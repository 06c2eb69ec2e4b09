#include "agent/advice.h"

#include <array>

namespace asmevo::agent {
namespace {

// By outcome, in the order of gate::Outcome.
constexpr std::array<std::string_view, gate::outcome_count> texts = {
    "It is a version now, and the one you work on: read its windows again before the next edit.",
    "The text does not assemble for this target. Operands and modifiers must be written as the listing has them, with "
    "the same suffixes. An edit may use labels of the kernel and define its own.",
    "A rule that holds without running anything is broken. An edit is instructions, labels and "
    ".long/.short/.byte/.quad/.p2align inside the kernel. Waits and wait states that are missing can be left to "
    "auto_waits; registers above what is declared are taken into account, but other symbols, arguments and metadata "
    "must stay as they are.",
    "The result differs from the original's on a case. The evidence names buffer, index and the instruction that "
    "stored there; check what is live behind the window, EXEC at its edges, and what the branches around it expect.",
    "It did not end, or touched memory that is not its own, or needs luck that the original does not need. Every "
    "address must stay inside the buffers of all cases, and every loop must end as it did.",
    "It wrote where the original does not: beside a buffer or into an input. Widened or reordered stores must cover "
    "the same bytes under the same EXEC.",
    "It may be faster, but the spread of its speedup over the model's uncertainty is as large as the gain. A larger "
    "gain is needed, or one that does not rest on an uncertain parameter.",
    "It behaves like the original and is not fast enough to be kept. Look at the stalls of the hot windows: the time "
    "is elsewhere, or the bound is another one.",
    "This was judged before, as text or as the same bytes; the evidence says when. What came of it is in the "
    "record of attempts.",
};

} // namespace

std::string_view advice(gate::Outcome outcome) { return texts[size_t(outcome)]; }

} // namespace asmevo::agent
