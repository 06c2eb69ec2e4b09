// The text of an edit, taken apart line by line.
//
// The assembler knows only the text it is given, while an edit refers to labels around it, and the items that come out
// of it must be known one by one. So the text is split into statements first; operands that only the whole listing can
// resolve are replaced by a literal that takes the same room, and labels of the surrounding listing are defined behind
// the end.
#pragma once

#include "recover/program.h"

#include <expected>
#include <functional>
#include <string>
#include <vector>

namespace asmevo::recover {

enum class StatementKind : uint8_t { instruction, label, data, align };

struct Statement {
  StatementKind kind;
  int line = 1, column = 1;
  std::string text;      // as written, comments and labels removed
  std::string target;    // the label that an instruction refers to
  bool symbolic = false; // an operand that only the listing resolves: text is kept as written
  uint32_t data_size = 0;
};

struct EditText {
  std::vector<Statement> statements;
  std::string assembly; // what to give to Codec::assemble(); lines as in the original text
};

/// `is_label` says whether the surrounding listing, or the edit, has the label.
std::expected<EditText, isa::AssemblyError> take_apart(const std::string& text,
                                                       const std::function<bool(std::string_view)>& is_label);

/// Labels that the text defines, with their lines.
std::vector<std::pair<std::string, int>> defined_labels(const std::string& text);

} // namespace asmevo::recover
