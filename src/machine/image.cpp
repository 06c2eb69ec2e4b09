#include "machine/image.h"

#include "machine/decode.h"
#include "object/code_extent.h"

#include <algorithm>
#include <elf.h>
#include <set>

namespace asmevo::machine {

namespace {

// R_AMDGPU_*, LLVM AMDGPUUsage "Relocation Records".
enum RelocationType : uint32_t {
  abs32_lo = 1,
  abs32_hi = 2,
  abs64 = 3,
  rel32 = 4,
  rel64 = 5,
  abs32 = 6,
  rel32_lo = 10,
  rel32_hi = 11,
  relative64 = 13,
  rel16 = 14
};

/// Addresses at which an instruction must begin, whatever the bytes before them decode to: data in .text may end in a
/// word that looks like half an instruction.
std::set<uint64_t> fixed_starts(const object::CodeObject& object, const object::CodeExtent& code) {
  std::set<uint64_t> starts;
  auto add = [&](uint64_t address) {
    if (address > code.address && address - code.address < code.bytes.size()) starts.insert(address);
  };
  for (size_t section : code.sections) add(object.sections[section].address);
  for (const object::Kernel& kernel : object.kernels) add(kernel.entry_address);
  for (const object::Symbol& symbol : object.symbols)
    if (symbol.type == STT_FUNC) add(symbol.value);
  return starts;
}

isa::Instruction raw_word(std::span<const uint8_t> code, uint64_t address) {
  isa::Instruction word;
  word.address = address;
  word.size = 4;
  for (size_t k = 0; k < std::min<size_t>(4, code.size()); ++k) word.words[0] |= uint32_t{code[k]} << (8 * k);
  return word;
}

std::vector<isa::Instruction> decode_all(std::span<const uint8_t> code, uint64_t base, const std::set<uint64_t>& starts,
                                         const isa::Codec& codec) {
  std::vector<isa::Instruction> instructions;
  auto next_start = starts.begin();
  for (uint64_t at = 0; at < code.size();) {
    while (next_start != starts.end() && *next_start <= base + at) ++next_start;
    isa::Instruction i = codec.decode(code.subspan(at), base + at);
    bool crosses = next_start != starts.end() && base + at + i.size > *next_start;
    if (i.size == 0 || crosses) i = raw_word(code.subspan(at), base + at);
    at += i.size;
    instructions.push_back(std::move(i));
  }
  return instructions;
}

void make_ops(Image::Impl& image) {
  const size_t count = image.instructions.size();
  DecodeContext context{image.target, image.pool};
  image.ops.reserve(count + 1);
  image.rows_used.reserve(count);
  for (size_t k = 0; k < count; ++k) {
    const isa::Instruction& i = image.instructions[k];
    Op op = decode_op(i, context);
    op.index = uint32_t(k);
    if (i.traits.branch && !i.traits.indirect) {
      const int64_t target = i.branch_target < 0 ? -1 : image.index_of(uint64_t(i.branch_target));
      op.imm = int32_t(target < 0 ? int64_t(count) : target);
    }
    image.ops.push_back(op);
    image.rows_used.push_back(rows_used(i));
    image.communicates |= may_communicate(i);
    image.shares_globally |= i.encoding == isa::Encoding::ds && isa::fields::ds(i.words).gds;
  }
  Op outside;
  outside.run = &run_outside_text;
  outside.index = uint32_t(count);
  image.ops.push_back(outside);
}

std::shared_ptr<Image::Impl> make_image(std::shared_ptr<const object::CodeObject> object,
                                        const object::CodeExtent& code, const isa::Codec& codec) {
  auto image = std::make_shared<Image::Impl>();
  image->target = codec.target();
  image->text_base = code.address;
  image->instructions = decode_all(code.bytes, code.address, fixed_starts(*object, code), codec);
  image->index_at.assign((code.bytes.size() + 3) / 4, -1);
  for (size_t k = 0; k < image->instructions.size(); ++k)
    image->index_at[(image->instructions[k].address - code.address) / 4] = int32_t(k);
  image->object = std::move(object);
  make_ops(*image);
  return image;
}

void put(std::span<uint8_t> at, uint64_t value, unsigned bytes) {
  for (unsigned k = 0; k < bytes && k < at.size(); ++k) at[k] = uint8_t(value >> (8 * k));
}

/// Applies a relocation where its place lies in a mapped part of the image.
Result<void> relocate(const object::CodeObject& object, const object::Relocation& r, uint64_t base, Memory& memory) {
  const uint64_t place = base + r.address;
  if (r.symbol && object.elf_type == ET_REL && object.symbols[r.symbol].section == SHN_UNDEF)
    return fail("{}: {} is used at {:#x} but the object does not define it", object.path, object.symbols[r.symbol].name,
                r.address);
  const uint64_t symbol = r.symbol < object.symbols.size() && r.symbol ? object.symbols[r.symbol].value : 0;
  const uint64_t value = base + symbol + uint64_t(r.addend);
  unsigned bytes = 4;
  uint64_t content = 0;
  switch (r.type) {
  case 0:
    return {};
  case abs32_lo:
    content = value & 0xffffffff;
    break;
  case abs32_hi:
    content = value >> 32;
    break;
  case abs32:
    content = value;
    break;
  case abs64:
    content = value, bytes = 8;
    break;
  case relative64:
    content = base + uint64_t(r.addend), bytes = 8;
    break;
  case rel32:
    content = value - place;
    break;
  case rel64:
    content = value - place, bytes = 8;
    break;
  default:
    return fail("{}: relocation of type {} at {:#x} is not supported", object.path, r.type, r.address);
  }
  const Region* region = memory.find(place, bytes);
  if (!region) return fail("{}: relocation at {:#x} lies outside the loaded segments", object.path, r.address);
  put(std::span(region->data + (place - region->base), bytes), content, bytes);
  return {};
}

/// Of a relocatable object: not resolved yet by the reader, which does what distances alone decide.
bool is_open(const object::CodeObject& object, const object::Relocation& r) {
  constexpr uint32_t distances[] = {rel32, rel64, rel32_lo, rel32_hi, rel16};
  const object::Symbol& symbol = object.symbols[r.symbol];
  const bool defined = symbol.section != SHN_UNDEF && symbol.section < SHN_LORESERVE;
  return (object.sections[r.section].flags & SHF_ALLOC) &&
         !(defined && std::ranges::find(distances, r.type) != std::end(distances));
}

Result<void> map_part(const object::CodeObject& object, Memory& memory, uint64_t address, uint64_t offset,
                      uint64_t file_size, uint64_t size, bool writable, const std::string& name) {
  const Bytes& content = object.linked.empty() ? object.bytes : object.linked;
  if (size == 0) return {};
  if (offset > content.size() || file_size > content.size() - offset)
    return fail("{}: {} lies outside the file", object.path, name);
  AE_TRY(std::span<uint8_t> bytes, memory.map(address, size, writable ? Access::read_write : Access::read_only, name));
  std::copy_n(content.begin() + int64_t(offset), std::min(file_size, size), bytes.begin());
  return {};
}

} // namespace

Result<Image> Image::create(std::shared_ptr<const object::CodeObject> object, const isa::Codec& codec) {
  AE_TRY(const object::CodeExtent code, object::code_extent(*object));
  Image image;
  image.impl = make_image(std::move(object), code, codec);
  return image;
}

const object::CodeObject& Image::object() const { return *impl->object; }
const isa::Target& Image::target() const { return impl->target; }
bool Image::may_communicate() const { return impl->communicates; }
const std::vector<isa::Instruction>& Image::instructions() const { return impl->instructions; }

Result<void> Image::load(Memory& memory, uint64_t base) const {
  const object::CodeObject& object = *impl->object;
  if (base % 4096) return fail("{}: load address {:#x} is not a multiple of 4096", object.path, base);
  bool segments = false;
  for (const object::Segment& s : object.segments) {
    if (s.type != PT_LOAD) continue;
    segments = true;
    AE_CHECK(map_part(object, memory, base + s.address, s.offset, s.file_size, s.memory_size, s.flags & PF_W,
                      fmt::format("segment at {:#x}", s.address)));
  }
  for (const object::Section& s : object.sections) {
    if (segments || !(s.flags & SHF_ALLOC)) continue;
    AE_CHECK(map_part(object, memory, base + s.address, s.offset, s.type == SHT_NOBITS ? 0 : s.size, s.size,
                      s.flags & SHF_WRITE, s.name));
  }
  for (const object::Relocation& r : object.relocations)
    if (object.elf_type == ET_DYN || is_open(object, r)) AE_CHECK(relocate(object, r, base, memory));
  return {};
}

Result<Image> Image::from_text(std::span<const uint8_t> text, const isa::Codec& codec,
                               const isa::Resources& resources) {
  auto object = std::make_shared<object::CodeObject>();
  object->path = "text";
  object->bytes.assign(text.begin(), text.end());
  object->elf_type = ET_DYN;
  object->sections.push_back({});
  object->sections.push_back({.name = ".text",
                              .type = SHT_PROGBITS,
                              .flags = SHF_ALLOC | SHF_EXECINSTR,
                              .size = text.size(),
                              .alignment = 256});
  object->kernels.push_back(
      {.name = "text", .code_size = text.size(), .descriptor = bare_descriptor(resources, codec.target())});
  return create(std::move(object), codec);
}

} // namespace asmevo::machine
