// Any 64 bytes as a kernel descriptor: directives that are claimed to give them must give them.
#include "recover/recover.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace asmevo;

namespace {

const isa::Codec& codec() {
  static const isa::Codec instance = *isa::Codec::create(isa::Target{});
  return instance;
}

// A small object whose descriptor is replaced.
const Bytes& object_bytes() {
  static const Bytes instance = [] {
    object::CodeObject like;
    like.elf_type = 3;
    like.abi_version = 3;
    like.e_flags = 0x54c;
    return *recover::build(
        "\t.amdhsa_code_object_version 5\n\t.text\n\t.globl k\n\t.p2align 8\n\t.type k,@function\nk:\n"
        "\ts_endpgm\n.Lend:\n\t.size k, .Lend-k\n\t.section .rodata,\"a\"\n\t.p2align 6\n"
        "\t.amdhsa_kernel k\n\t.amdhsa_next_free_vgpr 8\n\t.amdhsa_next_free_sgpr 8\n"
        "\t.amdhsa_accum_offset 8\n\t.end_amdhsa_kernel\n",
        like, codec());
  }();
  return instance;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto plain = object::read_code_object(object_bytes(), "plain");
  Bytes bytes = object_bytes();
  const auto* rodata = plain->section(".rodata");
  uint8_t* descriptor = bytes.data() + rodata->offset;
  for (size_t i = 0; i < std::min<size_t>(size, 64); i++)
    if (i < 16 || i >= 24) descriptor[i] ^= data[size - 1 - i];
  auto object = object::read_code_object(std::move(bytes), "input");
  if (!object) return 0;
  auto program = recover::recover(std::make_shared<object::CodeObject>(std::move(*object)), codec());
  if (!program) return 0;
  auto trip = recover::round_trip(*program, codec());
  if (trip && trip->differences.empty()) return 0;
  std::fprintf(stderr, "%s\n", trip ? trip->differences[0].c_str() : trip.error().message.c_str());
  std::abort();
}
