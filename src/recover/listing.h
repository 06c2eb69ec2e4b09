// The form of a listing that only build() reads.
#pragma once

#include "recover/program.h"

namespace asmevo::recover {

/// A listing without the bytes that are known: where they belong, it leaves room for them.
struct Outline {
  struct Filling {
    std::string section;
    uint64_t offset = 0; // in the section, as assembled
    Bytes bytes;
  };
  std::string text;
  std::vector<Filling> fillings;
};

/// As print_listing(), with room for everything that the assembler would only copy: data, the metadata note, and every
/// instruction that refers to nothing and whose text is proved to give its words. Reading thousands of lines is what
/// takes an assembler its time.
Outline print_outline(const Program& program);

/// The assembled outline with its room filled. Errors: the assembler has laid it out otherwise.
Result<Bytes> fill(Bytes object, const Outline& outline);

} // namespace asmevo::recover
