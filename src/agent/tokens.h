// How many tokens a text is, about.
//
// What a model is shown has to fit and is paid for, and no two models cut text in the same way. Assembly is the hard
// case: registers, commas and digits make a token of every two bytes, prose one of every four or five. So the estimate
// counts what tokenisers look for: pieces of at most eight letters, groups of three digits, signs, line ends; a space
// belongs to what follows it. docs/agents.md compares it with a real one.
#pragma once

#include <cstddef>
#include <string_view>

namespace asmevo::agent {

size_t estimated_tokens(std::string_view text);

} // namespace asmevo::agent
