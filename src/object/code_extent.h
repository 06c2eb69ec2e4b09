// The code of an object as one range of addresses.
//
// A linked object has one code section, as a rule. A relocatable one has as many as the compiler liked: one for each
// template instance (so that the linker can drop doubles), one for each function where asked for. Whoever follows
// control flow wants to see all of them at once.
#pragma once

#include "object/code_object.h"

namespace asmevo::object {

struct CodeExtent {
  std::vector<size_t> sections;   // indices in CodeObject::sections, by address; at least one
  uint64_t address = 0;           // of the first
  std::span<const uint8_t> bytes; // up to the end of the last; zero between sections
  Bytes joined;                   // what `bytes` shows where there are several sections

  CodeExtent() = default;
  CodeExtent(CodeExtent&&) = default; // a moved vector stays where it is
  CodeExtent& operator=(CodeExtent&&) = default;
};

/// The sections with instructions that are not empty. The object must outlive the result.
/// Errors: there is none; one without content; sections that overlap or lie more than 16 MiB apart.
Result<CodeExtent> code_extent(const CodeObject& object);

} // namespace asmevo::object
