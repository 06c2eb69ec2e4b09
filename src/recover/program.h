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

#include <algorithm>
#include <memory>

namespace asmevo::recover {

/// `align` pads with s_nop or whatever K0 has there; it keeps entry points where the hardware looks for them. `section`
/// ends one code section and begins another; it lies in no function.
enum class ItemKind : uint8_t { instruction, label, data, align, section };

struct Item {
  ItemKind kind = ItemKind::instruction;
  bool raw = false;             // instruction printed as .long words because LLVM would encode its text differently
  std::string text;             // label: its name; instruction: what print() writes (labels included); else: directive
  isa::Instruction instruction; // kind instruction only
  std::string target;           // instruction, data: the label it refers to, empty where none
  int64_t origin = -1;          // address in K0, -1 for inserted items
  uint32_t data_size = 0;       // data: bytes

  /// Bytes it takes; of an align item unknown until the listing is assembled, 0 here.
  uint32_t size() const { return kind == ItemKind::instruction ? instruction.size : data_size; }
};

/// A function of the listing: [first, last) in Program::items, its label included. Kernels have `kernel` set to an
/// index in object kernels.
struct Function {
  std::string name;
  size_t first = 0, last = 0;
  int kernel = -1;
};

/// What lies outside the code and meets it: names for the places of other sections that code refers to, and the words
/// of other sections that hold addresses. Never edited, so candidates share it.
struct Surroundings {
  struct Place {
    uint64_t address = 0;
    std::string name;
  };
  struct Reference { // the word at `address` is what the linker makes of `expression`
    uint64_t address = 0;
    uint8_t size = 8;
    std::string expression;
    std::string label; // of the listing, where the expression names one; it must stay
  };
  struct End {           // the label behind the last byte of a function symbol that has a size
    uint32_t symbol = 0; // index in CodeObject::symbols
    std::string label;
  };
  std::vector<std::string> symbol_names; // by index in CodeObject::symbols: what the listing calls them
  std::vector<Place> places;             // by address; names that the symbol table does not have
  std::vector<End> ends;
  std::vector<Reference> references; // by address, none in the code
  std::vector<size_t> code_sections; // indices of the sections that Program::items spells, by address

  bool is_code(size_t section) const { return std::ranges::find(code_sections, section) != code_sections.end(); }
};

struct Program {
  isa::Target target;
  std::shared_ptr<const object::CodeObject> origin; // K0 or the candidate it was recovered from
  std::vector<Item> items;                          // all code
  std::vector<Function> functions;
  std::vector<isa::Resources> declared; // as the descriptor of each kernel declares, by kernel index
  std::shared_ptr<const Surroundings> surroundings;
  std::string
      rigid; // why sizes must not change, empty where they may: code that computes addresses in a way not understood
};

/// Replaces items [first, last) by `text`: instructions, labels, data, one a line. `driver` and `rationale` are kept
/// for the lineage.
struct Edit {
  size_t first = 0, last = 0;
  std::string text;
};

} // namespace asmevo::recover
