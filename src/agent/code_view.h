// A version as an agent looks at it: its code, and where the time goes.
#pragma once

#include "analysis/cfg.h"
#include "search/window.h"

namespace asmevo::agent {

using search::HotWindow;
using search::Range;
inline constexpr size_t widest_window = 512; // items

struct CodeView {
  const recover::Program* program = nullptr;
  const recover::Function* function = nullptr;
  analysis::Graph graph;
  profile::Profile profile;
  std::vector<HotWindow> windows; // the hottest first
};

/// `code` is what the estimate's attribution is indexed by; `source` says who timed it. The program must outlive the
/// view.
CodeView view_code(const recover::Program& program, const recover::Function& function, const timing::Estimate& estimate,
                   std::span<const isa::Instruction> code, std::string source);

/// One item as an edit would say it, with what it costs.
struct Line {
  std::string text;       // bounded
  double share = 0;       // of the kernel's time
  std::string_view stall; // its largest reason to stall; empty where it has none
  bool timed = false;     // an instruction that was executed
};
Line line_of(const CodeView& view, size_t item);

} // namespace asmevo::agent
