// e_flags: the low byte is the processor, the next bits are the features, and what those bits mean changed with code
// object v4. Before v4 an object could only say that a feature is on; since v4 it says unsupported, any, off or on, and
// the loader refuses an object whose answer does not fit the device, so the four states are kept apart.
//
// Generic targets (gfx9-generic, gfx9-4-generic) promise to use only what a family shares. gfx9-4-generic code runs on
// gfx942 and gfx950 and is read as gfx942, whose instruction set contains it. gfx9-generic contains instructions for
// which the CDNA processors disagree with the graphics ones about encodings, and no CDNA processor loads it: an error.
// Source: LLVM AMDGPUUsage, "ELF Header", "Processors" and "Target ID".
#include "isa/target.h"

#include <array>
#include <llvm/BinaryFormat/ELF.h>

namespace asmevo::isa {
namespace {

using namespace llvm::ELF;

struct Row {
  Processor processor;
  std::string_view name;
  uint32_t mach;
  bool xnack, sramecc; // the processor knows the feature
};

constexpr std::array rows = {
    Row{Processor::gfx906, "gfx906", EF_AMDGPU_MACH_AMDGCN_GFX906, true, true},
    Row{Processor::gfx908, "gfx908", EF_AMDGPU_MACH_AMDGCN_GFX908, true, true},
    Row{Processor::gfx90a, "gfx90a", EF_AMDGPU_MACH_AMDGCN_GFX90A, true, true},
    Row{Processor::gfx942, "gfx942", EF_AMDGPU_MACH_AMDGCN_GFX942, true, true},
    Row{Processor::gfx950, "gfx950", EF_AMDGPU_MACH_AMDGCN_GFX950, true, true},
};

/// Processors that this project does not read, so that the message can name them.
struct Foreign {
  uint32_t mach;
  std::string_view name;
};
constexpr std::array foreign = {
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX801, "gfx801"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX802, "gfx802"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX803, "gfx803"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX810, "gfx810"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX900, "gfx900"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX902, "gfx902"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX904, "gfx904"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX909, "gfx909"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX90C, "gfx90c"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1010, "gfx1010"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1011, "gfx1011"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1012, "gfx1012"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1030, "gfx1030"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1031, "gfx1031"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1032, "gfx1032"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1100, "gfx1100"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1101, "gfx1101"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1102, "gfx1102"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1103, "gfx1103"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1150, "gfx1150"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1151, "gfx1151"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1200, "gfx1200"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1201, "gfx1201"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX1250, "gfx1250"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX9_GENERIC, "gfx9-generic"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX10_1_GENERIC, "gfx10-1-generic"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX10_3_GENERIC, "gfx10-3-generic"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX11_GENERIC, "gfx11-generic"},
    Foreign{EF_AMDGPU_MACH_AMDGCN_GFX12_GENERIC, "gfx12-generic"},
};

constexpr uint32_t gfx9_4_generic = EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC;

const Row& row_of(Processor processor) { return rows[static_cast<size_t>(processor)]; }

/// The two bits of a v4 feature field.
Feature feature_of_bits(uint32_t bits) { return static_cast<Feature>(bits & 3); }

Feature feature_of_flag(bool set) { return set ? Feature::on : Feature::off; }

std::string_view feature_suffix(Feature feature) {
  switch (feature) {
  case Feature::on:
    return "+";
  case Feature::off:
    return "-";
  default:
    return "";
  }
}

} // namespace

Result<Target> target_from_elf(uint32_t e_flags, uint8_t abi_version, const std::string& where) {
  if (abi_version < ELFABIVERSION_AMDGPU_HSA_V3)
    return fail("{}: code object v2 (ELF ABI version 0) is not supported; v3 to v6 are", where);
  if (abi_version > ELFABIVERSION_AMDGPU_HSA_V6)
    return fail("{}: ELF ABI version {} is not a known AMDGPU code object version; 1 (v3) to 4 (v6) are", where,
                abi_version);
  const uint32_t mach = e_flags & EF_AMDGPU_MACH;
  Target target;
  target.generic = mach == gfx9_4_generic;
  bool known = target.generic;
  for (const Row& row : rows)
    if (row.mach == mach) target.processor = row.processor, known = true;
  if (!known) {
    for (const Foreign& other : foreign)
      if (other.mach == mach)
        return fail("{}: compiled for {}, which is not a CDNA processor; gfx906, gfx908, gfx90a, gfx942, gfx950 and "
                    "gfx9-4-generic are supported",
                    where, other.name);
    return fail("{}: processor number 0x{:x} in e_flags 0x{:x} is not a CDNA processor; gfx906, gfx908, gfx90a, "
                "gfx942, gfx950 and gfx9-4-generic are supported",
                where, mach, e_flags);
  }
  if (target.generic) target.generic_version = static_cast<uint8_t>(e_flags >> EF_AMDGPU_GENERIC_VERSION_OFFSET);
  if (abi_version == ELFABIVERSION_AMDGPU_HSA_V3) {
    target.xnack = feature_of_flag(e_flags & EF_AMDGPU_FEATURE_XNACK_V3);
    target.sramecc = feature_of_flag(e_flags & EF_AMDGPU_FEATURE_SRAMECC_V3);
  } else {
    target.xnack = feature_of_bits((e_flags & EF_AMDGPU_FEATURE_XNACK_V4) >> 8);
    target.sramecc = feature_of_bits((e_flags & EF_AMDGPU_FEATURE_SRAMECC_V4) >> 10);
  }
  return target;
}

std::string_view processor_name(Processor processor) { return row_of(processor).name; }

Result<Processor> processor_from_name(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.processor;
  return fail("{}: not a supported processor; gfx906, gfx908, gfx90a, gfx942 and gfx950 are", name);
}

std::string_view assembler_processor(const Target& target) {
  return target.generic ? "gfx9-4-generic" : processor_name(target.processor);
}

std::string target_id(const Target& target) {
  std::string id = fmt::format("amdgcn-amd-amdhsa--{}", assembler_processor(target));
  if (auto suffix = feature_suffix(target.sramecc); !suffix.empty()) id += fmt::format(":sramecc{}", suffix);
  if (auto suffix = feature_suffix(target.xnack); !suffix.empty()) id += fmt::format(":xnack{}", suffix);
  return id;
}

Result<Target> target_from_id(std::string_view id) {
  constexpr std::string_view triple = "amdgcn-amd-amdhsa-";
  std::string_view rest = id;
  if (rest.starts_with(triple)) rest.remove_prefix(triple.size());
  if (rest.starts_with('-')) rest.remove_prefix(1);
  std::string_view name = rest.substr(0, rest.find(':'));
  Target target;
  target.generic = name == assembler_processor({.generic = true});
  if (!target.generic) {
    AE_TRY(target.processor, processor_from_name(name));
  }
  rest.remove_prefix(name.size());
  while (!rest.empty()) {
    rest.remove_prefix(1); // the colon
    std::string_view feature = rest.substr(0, rest.find(':'));
    rest.remove_prefix(feature.size());
    const Feature state = feature.ends_with('+') ? Feature::on : Feature::off;
    if (feature == "xnack+" || feature == "xnack-")
      target.xnack = state;
    else if (feature == "sramecc+" || feature == "sramecc-")
      target.sramecc = state;
    else
      return fail("{}: `{}` is no feature of a target; xnack+, xnack-, sramecc+ and sramecc- are", id, feature);
  }
  return target;
}

} // namespace asmevo::isa
