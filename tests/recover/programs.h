// Programs for tests: real objects from the data folder, and objects compiled or assembled on the spot.
#pragma once

#include "../object/samples.h"
#include "recover/recover.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <unistd.h>

namespace asmevo::recover::testing {

/// One codec a target for the whole run.
inline const isa::Codec& codec_for(const isa::Target& target) {
  static std::map<std::string, isa::Codec> codecs;
  std::string id = isa::target_id(target) + (target.generic ? "g" : "");
  auto known = codecs.find(id);
  if (known == codecs.end()) known = codecs.emplace(id, *isa::Codec::create(target)).first;
  return known->second;
}

inline std::shared_ptr<const object::CodeObject> object_of(Bytes bytes, const std::string& path) {
  auto object = object::read_code_object(std::move(bytes), path);
  EXPECT_TRUE(object) << object.error().message;
  return object ? std::make_shared<object::CodeObject>(std::move(*object)) : nullptr;
}

inline const isa::Codec& codec_for(const object::CodeObject& object) {
  auto target = isa::target_from_elf(object.e_flags, object.abi_version, object.path);
  EXPECT_TRUE(target) << target.error().message;
  return codec_for(*target);
}

inline Program program_of(const std::shared_ptr<const object::CodeObject>& object) {
  auto program = recover(object, codec_for(*object));
  EXPECT_TRUE(program) << program.error().message;
  return program ? std::move(*program) : Program{};
}

inline Program program_of(const std::string& path) { return program_of(object_of(samples::load(path), path)); }

inline std::string differences(const RoundTrip& trip) {
  std::string text;
  for (const std::string& d : trip.differences) text += "\n  " + d;
  return text;
}

inline void expect_round_trip(const Program& program) {
  auto trip = round_trip(program, codec_for(program.target));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_TRUE(trip->differences.empty()) << program.origin->path << differences(*trip);
}

/// A directory that is gone after the test.
class Scratch {
public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "asmevo-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path + "/" + name) << content;
    return path + "/" + name;
  }
  std::string path;
};

inline bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
inline bool has_program(const std::string& name) { return run("command -v " + name); }

/// HIP source to a linked code object, as the quick start compiles its kernels.
inline Bytes compile_hip(const std::string& source, const std::string& arch, const std::string& options = "") {
  Scratch scratch;
  std::string input = scratch.write("k.hip", "#define __global__ __attribute__((global))\n"
                                             "#define __device__ __attribute__((device))\n"
                                             "#define __constant__ __attribute__((constant))\n"
                                             "#define __shared__ __attribute__((shared))\n" +
                                                 source);
  std::string output = scratch.path + "/k.co";
  EXPECT_TRUE(run("clang-22 -x hip --offload-arch=" + arch + " --offload-device-only -nogpuinc -nogpulib -O3 " +
                  options + " --no-gpu-bundle-output -o " + output + " " + input))
      << source;
  return samples::load(output);
}

/// A kernel of `body` (instructions) for gfx942 with generous registers, assembled and linked.
inline std::string small_listing(const std::string& body, const std::string& directives = "") {
  return "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\t.amdhsa_code_object_version 5\n\t.text\n\t.globl k\n"
         "\t.p2align 8\n\t.type k,@function\nk:\n" +
         body +
         "\n.Lend:\n\t.size k, .Lend-k\n\t.section .rodata,\"a\",@progbits\n\t.p2align 6\n\t.amdhsa_kernel k\n"
         "\t.amdhsa_next_free_vgpr 8\n\t.amdhsa_next_free_sgpr 16\n\t.amdhsa_accum_offset 8\n" +
         directives + "\t.end_amdhsa_kernel\n";
}

inline Bytes build_small(const std::string& listing) {
  object::CodeObject like;
  like.elf_type = 3;
  like.abi_version = 3;
  like.e_flags = 0x54c;
  auto bytes = build(listing, like, codec_for(isa::Target{}));
  EXPECT_TRUE(bytes) << "line " << bytes.error().line << ": " << bytes.error().message;
  return bytes ? *bytes : Bytes{};
}

} // namespace asmevo::recover::testing
