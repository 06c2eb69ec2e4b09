// A code object: the ELF file that the ROCm loader takes.
//
// What matters for a drop-in replacement is what the loader and the host program see: kernels with their 64-byte
// descriptors (`<name>.kd` in .rodata), the metadata note (msgpack) that says how to build the kernarg segment, the
// symbols, and e_flags, which pin the processor and its xnack/sramecc settings. This module reads all of that and
// nothing of the instructions.
#pragma once

#include "support/file.h"
#include "support/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace asmevo::object {

struct Section {
  std::string name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0; // in the file
  uint64_t size = 0;
  uint64_t alignment = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t entry_size = 0;
  std::string group; // signature of the section group that it is part of, empty where it is in none
  bool comdat = false;
};

struct Segment {
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
};

struct Symbol {
  std::string name;
  uint64_t value = 0; // an address; for ET_REL an offset in its section until read_code_object has laid it out
  uint64_t size = 0;
  uint8_t type = 0;       // STT_*
  uint8_t binding = 0;    // STB_*
  uint8_t visibility = 0; // STV_*
  uint16_t section = 0;   // index into CodeObject::sections, or SHN_*
  bool dynamic = false;   // from .dynsym
};

struct Relocation {
  uint64_t address = 0;
  uint32_t type = 0;   // R_AMDGPU_*
  uint32_t symbol = 0; // index into CodeObject::symbols
  int64_t addend = 0;
  uint32_t section = 0; // the section that is patched
};

/// The 64-byte kernel descriptor. Field meanings: LLVM AMDGPUUsage, "Kernel Descriptor" (code object v3 and later).
struct KernelDescriptor {
  std::array<uint8_t, 64> raw{};

  uint32_t group_segment_fixed_size() const { return word(0); }
  uint32_t private_segment_fixed_size() const { return word(4); }
  uint32_t kernarg_size() const { return word(8); }
  int64_t kernel_code_entry_byte_offset() const { return int64_t(uint64_t{word(16)} | uint64_t{word(20)} << 32); }
  uint32_t compute_pgm_rsrc3() const { return word(44); }
  uint32_t compute_pgm_rsrc1() const { return word(48); }
  uint32_t compute_pgm_rsrc2() const { return word(52); }
  uint16_t kernel_code_properties() const { return uint16_t(word(56)); }
  uint16_t kernarg_preload() const { return uint16_t(word(56) >> 16); } // length 6:0, offset 15:7, in dwords

  uint32_t word(size_t at) const {
    return uint32_t{raw[at]} | uint32_t{raw[at + 1]} << 8 | uint32_t{raw[at + 2]} << 16 | uint32_t{raw[at + 3]} << 24;
  }
};

/// One kernel argument as metadata has it. Absent strings are empty.
struct KernelArgument {
  std::string name;
  std::string type_name;
  std::string value_kind; // "by_value", "global_buffer", "hidden_block_count_x", ...
  std::string value_type;
  std::string address_space;
  std::string access;
  uint32_t offset = 0;
  uint32_t size = 0;
  bool is_const = false;
};

/// What the metadata note says of a kernel (`amdhsa.kernels[i]`). Absent counts are nullopt.
struct KernelMetadata {
  std::string name;
  std::string symbol; // "<name>.kd"
  uint32_t kernarg_segment_size = 0;
  uint32_t kernarg_segment_align = 0;
  uint32_t group_segment_fixed_size = 0;
  uint32_t private_segment_fixed_size = 0;
  uint32_t max_flat_workgroup_size = 0;
  uint32_t wavefront_size = 64;
  std::optional<std::array<uint32_t, 3>> reqd_workgroup_size;
  std::optional<uint32_t> sgpr_count, vgpr_count, agpr_count, sgpr_spill_count, vgpr_spill_count;
  bool uses_dynamic_stack = false;
  std::vector<KernelArgument> args;
};

struct Kernel {
  std::string name;                // without ".kd"
  uint64_t descriptor_address = 0; // virtual address of <name>.kd
  uint64_t entry_address = 0;      // virtual address of the first instruction
  uint64_t code_size = 0;          // of the function symbol; 0 where it has none
  KernelDescriptor descriptor;
  std::optional<KernelMetadata> metadata;
};

struct CodeObject {
  std::string path;      // what messages begin with
  Bytes bytes;           // the whole file, untouched
  Bytes linked;          // ET_REL only: `bytes` with PC-relative relocations resolved; what data() shows then
  uint16_t elf_type = 0; // ET_DYN or ET_REL
  uint8_t abi_version = 0;
  uint32_t e_flags = 0;
  int code_object_version() const { return abi_version + 2; } // 3 to 6
  std::vector<Section> sections;                              // in file order, index 0 is the null section
  std::vector<Segment> segments;
  std::vector<Symbol> symbols; // .symtab, or .dynsym where there is none; then dynamic ones that .symtab lacks
  std::vector<Relocation>
      relocations;             // ET_DYN: what the loader applies; ET_REL: all, PC-relative ones already resolved
  std::vector<Kernel> kernels; // by entry address
  Bytes metadata_note;         // the msgpack blob, as it is in the file
  std::string metadata_target; // `amdhsa.target`, empty where absent

  std::span<const uint8_t> data(const Section& section) const; // empty for NOBITS
  const Section* section_at(uint64_t address) const;           // the allocated section that holds the byte, or null
  const Section* section(std::string_view name) const;
  const Kernel* kernel(std::string_view name) const;
};

/// Reads a code object from memory. `path` is only for messages. Relocatable objects are laid out (each allocated
/// section gets an address as the linker would give it) and their descriptor relocations are resolved.
/// Errors: not an ELF file; not for AMDGPU HSA; any header, table, name, note or descriptor that does not lie inside
/// the file, with its offset; no kernel.
Result<CodeObject> read_code_object(Bytes bytes, const std::string& path);

/// The kernel named `name`, or the only one where `name` is empty.
/// Errors: no such kernel (the message lists what there is); several kernels and none named.
Result<const Kernel*> choose_kernel(const CodeObject& object, const std::string& name);

} // namespace asmevo::object
