// Program: a code object as text that can be edited.
//
// The listing is a list of items in address order: labels, instructions, data. Control flow and PC-relative references
// name labels instead of distances, so inserting and deleting items is safe. Everything that is not code (descriptors,
// metadata, other sections) is kept beside it. A Program always comes from a CodeObject; it is a value, cheap enough to
// copy per candidate.
#pragma once

#include "isa/codec.h"
#include "isa/resources.h"
#include "object/code_object.h"

#include <memory>

namespace asmevo::recover {

enum class ItemKind : uint8_t { instruction, label, data, align };

struct Item {
  ItemKind kind = ItemKind::instruction;
  bool raw = false;              // instruction printed as .long words because LLVM would encode its text differently
  std::string text;              // label: its name; instruction: what print() writes (labels included); data: directive
  isa::Instruction instruction;  // kind instruction only
  std::string target;            // instruction: the label it refers to, empty where none
  int64_t origin = -1;           // address in K0, -1 for inserted items
};

/// A function of the listing: [first, last) in Program::items. Kernels have `kernel` set to an index in object kernels.
struct Function {
  std::string name;
  size_t first = 0, last = 0;
  int kernel = -1;
};

struct Program {
  isa::Target target;
  std::shared_ptr<const object::CodeObject> origin; // K0 or the candidate it was recovered from
  std::vector<Item> items;                          // the whole .text
  std::vector<Function> functions;
  std::vector<isa::Resources> declared; // as the descriptor of each kernel declares, by kernel index
};

/// Replaces items [first, last) by `text`: instructions, labels, data, one a line. `driver` and `rationale` are kept for
/// the lineage.
struct Edit {
  size_t first = 0, last = 0;
  std::string text;
};

} // namespace asmevo::recover
