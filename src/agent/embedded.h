// The texts of src/agent/prompts/, which are put into the program when it is built.
#pragma once

#include <span>
#include <string_view>

namespace asmevo::agent {

struct EmbeddedText {
  std::string_view name; // of the file, without ".md"
  std::string_view text;
};
std::span<const EmbeddedText> embedded_texts();

} // namespace asmevo::agent
