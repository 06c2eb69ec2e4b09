// A launch from the code object alone.
//
// Metadata tells how many arguments a kernel takes and which of them are pointers, and no more: neither how large the
// buffers behind them are, nor which are read and which written, nor what the scalars mean or how large a grid must be.
// A programmer who had only the binary would try it. So does this: pointers get empty address ranges, a few workgroups
// run, and what they touch tells extent and direction; where values go tells the rest. An argument that reaches
// addresses, comparisons or divisions is a size, one that only meets floats a factor; a loaded value that becomes an
// address makes its buffer one of indexes; the instruction that uses a value names its type (infer/flow.h). The grid
// ends where workgroups stop storing, or where they begin to store over each other (infer/search.h).
//
// What comes out is a launch file like any other, and a list of what was assumed. It is a proposal: whether it is fit
// to judge candidates is for the oracle to say.
#pragma once

#include "launch/launch.h"
#include "machine/machine.h"

namespace asmevo::launch {

struct Inference {
  std::string text; // of the launch file
  std::vector<std::string> assumptions;
  std::string confidence; // "high", "medium", "low"
};

/// Errors: the kernel stores nothing, or faults, whatever is tried; metadata without arguments.
Result<Inference> infer_launch(const machine::Image& image, const object::Kernel& kernel,
                               const volatile bool* stop = nullptr);

} // namespace asmevo::launch
