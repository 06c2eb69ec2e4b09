#include "agent/prompt.h"

#include "agent/embedded.h"
#include "agent/prompt_parts.h"
#include "agent/tokens.h"
#include "support/hash.h"

#include <algorithm>

namespace asmevo::agent {
namespace {

constexpr size_t narrowest = 16; // items of a window that is made smaller

/// A heading with rows, the most useful first. A part of several rows may lose the last ones.
struct Part {
  std::string heading;
  std::vector<std::string> rows;
  bool needed = false;
};

std::vector<std::string> one_row(std::string text) {
  std::vector<std::string> rows;
  if (!text.empty()) rows.push_back(std::move(text));
  return rows;
}

size_t costliest(const CodeView& view, Range range) {
  size_t best = range.first;
  double most = -1;
  for (size_t i = range.first; i < range.last; ++i)
    if (const double share = line_of(view, i).share; share > most) best = i, most = share;
  return best;
}

/// `range` grown by `step` items to both sides, inside the kernel and behind its own label.
Range grown(const CodeView& view, Range range, size_t step) {
  const size_t least = view.function->first + 1, most = view.function->last;
  return {range.first > least + step ? range.first - step : std::min(least, range.first),
          std::min(most, range.last + step)};
}

struct Windows {
  Range shown, hot;
  std::string text;
};

Windows choose_windows(const search::State& state, const CodeView& view, Range hot, size_t room) {
  const auto fits = [&](const std::string& text) { return estimated_tokens(text) <= room; };
  std::string text = window_text(state, view, hot, hot);
  while (!fits(text) && hot.size() > narrowest) {
    const size_t centre = costliest(view, hot), half = std::max(narrowest, hot.size() / 2) / 2;
    const size_t first = std::max(hot.first, centre > half ? centre - half : 0);
    hot = {first, std::min(hot.last, first + 2 * half)};
    text = window_text(state, view, hot, hot);
  }
  Windows windows{hot, hot, std::move(text)};
  for (size_t step = widest_window; step > 0; step /= 2) {
    const Range wider = grown(view, windows.shown, step);
    if (wider == windows.shown || wider.size() > widest_window) continue;
    std::string more = window_text(state, view, wider, hot);
    if (!fits(more)) continue;
    windows.shown = wider;
    windows.text = std::move(more);
  }
  return windows;
}

size_t heading_tokens(const Part& part) { return estimated_tokens(part.heading) + 4; }

/// How many rows of each part there is room for, in the order of their rank.
std::vector<size_t> rows_that_fit(std::span<const Part* const> by_rank, size_t budget) {
  std::vector<size_t> kept;
  size_t used = 0;
  for (const Part* part : by_rank) {
    size_t rows = 0, tokens = heading_tokens(*part);
    for (; rows < part->rows.size(); ++rows) {
      const size_t more = estimated_tokens(part->rows[rows]);
      if (!part->needed && used + tokens + more > budget) break;
      tokens += more;
    }
    if (rows > 0) used += tokens;
    kept.push_back(rows);
  }
  return kept;
}

} // namespace

std::string_view prompt_file(std::string_view name) {
  for (const EmbeddedText& text : embedded_texts())
    if (text.name == name) return text.text;
  return {};
}

Prompt compose(const search::State& state, const CodeView& view, const Focus& focus, size_t token_budget) {
  Prompt prompt{.system = std::string(prompt_file("system")), .focus = focus};
  const size_t budget = std::max(token_budget, least_prompt_tokens) - estimated_tokens(prompt.system);
  const Windows windows = choose_windows(state, view, view.windows[focus.window].range, budget / 2);
  prompt.shown = windows.shown;

  Part kernel{"Kernel", one_row(kernel_facts(state, view)), true};
  Part lineage{"How this version came about", lineage_rows(state)};
  Part hot{"Where the time goes", window_rows(view, focus)};
  Part playbook{fmt::format("Direction: {}", direction_name(focus.direction)),
                one_row(std::string(prompt_file(direction_name(focus.direction))))};
  Part window{"Window", one_row(windows.text), true};
  Part failures{"What was tried and brought nothing", failure_rows(state)};
  Part last{"The last verdict", one_row(last_verdict(state))};
  Part task{"Task", one_row(task_text(state, windows.shown, windows.hot, focus.direction)), true};
  const Part* const by_rank[] = {&task, &kernel, &window, &last, &playbook, &failures, &hot, &lineage};
  const Part* const by_place[] = {&kernel, &lineage, &hot, &playbook, &window, &failures, &last, &task};

  const std::vector<size_t> kept = rows_that_fit(by_rank, budget);
  for (const Part* part : by_place) {
    const size_t rows = kept[size_t(std::ranges::find(by_rank, part) - std::begin(by_rank))];
    if (rows < part->rows.size()) prompt.dropped.push_back(part->heading);
    if (rows == 0) continue;
    prompt.user += fmt::format("# {}\n\n", part->heading);
    for (size_t i = 0; i < rows; ++i) prompt.user += part->rows[i];
    if (rows < part->rows.size()) prompt.user += fmt::format("({} more are left out)\n", part->rows.size() - rows);
    prompt.user += '\n';
  }
  prompt.tokens = estimated_tokens(prompt.system) + estimated_tokens(prompt.user);
  prompt.hash = sha256_hex(prompt.system + '\0' + prompt.user);
  return prompt;
}

} // namespace asmevo::agent
