#include "object/code_object.h"

#include "object/elf.h"
#include "samples.h"

#include <cstring>
#include <random>

namespace asmevo::object {
namespace {

template <class T> void put(Bytes& bytes, size_t at, T value) { std::memcpy(bytes.data() + at, &value, sizeof value); }
template <class T> T get(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string error_of(const Result<CodeObject>& result) { return result ? "no error" : result.error().message; }

TEST(CodeObject, ReadsKernelsDescriptorsAndMetadataOfATritonObject) {
  NEEDS_DATA("triton");
  auto object = read_code_object(samples::load(samples::triton("gfx942_matmul")), "m.hsaco");
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->elf_type, elf::et_dyn);
  EXPECT_EQ(object->code_object_version(), 5);
  EXPECT_EQ(object->e_flags, 0x54cu);
  EXPECT_EQ(object->metadata_target, "amdgcn-amd-amdhsa--gfx942");
  ASSERT_EQ(object->kernels.size(), 1u);
  const Kernel& kernel = object->kernels[0];
  EXPECT_EQ(kernel.name, "matmul");
  EXPECT_EQ(kernel.entry_address, 0x1700u);
  EXPECT_EQ(kernel.code_size, 6560u);
  EXPECT_EQ(kernel.descriptor.kernarg_size(), 64u);
  ASSERT_TRUE(kernel.metadata);
  EXPECT_EQ(kernel.metadata->args.size(), 11u);
  EXPECT_EQ(kernel.metadata->args[0].value_kind, "global_buffer");
  EXPECT_EQ(kernel.metadata->args[10].offset, 56u);
  EXPECT_EQ(kernel.metadata->max_flat_workgroup_size, 256u);
  ASSERT_TRUE(object->section_at(0x1700));
  EXPECT_EQ(object->section_at(0x1700)->name, ".text");
}

TEST(CodeObject, ReadsEveryAiterObjectWithItsStaleAndDuplicateNames) {
  auto files = samples::files("aiter", ".co");
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: no aiter in the data folder (set ASMEVO_DATA)";
  size_t zero_kernarg = 0, without_agpr_count = 0;
  for (const std::string& file : files) {
    auto object = read_code_object(samples::load(file), file);
    ASSERT_TRUE(object) << object.error().message;
    for (const Kernel& kernel : object->kernels) {
      ASSERT_TRUE(kernel.metadata) << file;
      zero_kernarg += kernel.descriptor.kernarg_size() == 0 && kernel.metadata->kernarg_segment_size != 0;
      without_agpr_count += !kernel.metadata->agpr_count;
    }
  }
  EXPECT_GT(zero_kernarg, 0u);
  EXPECT_GT(without_agpr_count, 0u);
}

TEST(CodeObject, LaysOutARelocatableObjectAndResolvesItsDescriptors) {
  auto files = samples::files("mi300a/objects", ".hsaco");
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: no mi300a in the data folder (set ASMEVO_DATA)";
  for (const std::string& file : files) {
    auto object = read_code_object(samples::load(file), file);
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(object->elf_type, elf::et_rel);
    for (const Kernel& kernel : object->kernels) {
      const Section* code = object->section_at(kernel.entry_address);
      ASSERT_TRUE(code) << file;
      EXPECT_EQ(code->name, ".text") << file;
      auto function = std::ranges::find(object->symbols, kernel.name, &Symbol::name);
      ASSERT_NE(function, object->symbols.end());
      EXPECT_EQ(function->value, kernel.entry_address) << file;
    }
  }
}

TEST(CodeObject, SaysWhatAForeignFileIs) {
  EXPECT_EQ(error_of(read_code_object({'h', 'e', 'l', 'l', 'o'}, "a.txt")), "a.txt: not an ELF file");
  EXPECT_EQ(error_of(read_code_object({}, "e")), "e: not an ELF file");
  Bytes host(64, 0);
  std::memcpy(host.data(),
              "\x7f"
              "ELF\2\1\1",
              7);
  put<uint16_t>(host, 18, 62);
  EXPECT_EQ(error_of(read_code_object(host, "a.out")),
            "a.out: ELF for machine 62 (x86-64), an AMDGPU HSA code object is needed");
}

TEST(CodeObject, WithoutADescriptorSymbolIsAnError) {
  NEEDS_DATA("triton");
  Bytes bytes = samples::load(samples::triton("gfx942_softmax"));
  for (size_t i = 0; i + 11 <= bytes.size(); i++)
    if (std::memcmp(bytes.data() + i, "softmax.kd", 11) == 0) bytes[i + 9] = 'x';
  EXPECT_EQ(error_of(read_code_object(bytes, "s")), "s: no kernel (no symbol <name>.kd)");
}

TEST(CodeObject, NamesTheKernelsWhenTheChoiceIsUnclear) {
  CodeObject object;
  object.path = "two.co";
  object.kernels = {{.name = "a"}, {.name = "b"}};
  EXPECT_EQ(choose_kernel(object, "").error().message, "two.co: 2 kernels, name one of them: a, b");
  EXPECT_EQ(choose_kernel(object, "c").error().message, "two.co: no kernel c; there is a, b");
  EXPECT_EQ((*choose_kernel(object, "b"))->name, "b");
}

std::vector<std::string> small_samples() {
  std::vector<std::string> paths;
  for (const char* name : {"gfx942_softmax", "gfx950_softmax", "gfx90a_matmul"}) paths.push_back(samples::triton(name));
  auto relocatable = samples::files("mi300a/objects", "vectoradd.hsaco");
  paths.insert(paths.end(), relocatable.begin(), relocatable.end());
  return paths;
}

void truncate_and_expect_an_error(const Bytes& whole, size_t size) {
  auto result = read_code_object(Bytes(whole.begin(), whole.begin() + size), "cut.co");
  ASSERT_FALSE(result) << "read although cut at " << size << " of " << whole.size();
  EXPECT_EQ(result.error().message.rfind("cut.co: ", 0), 0u) << result.error().message;
}

TEST(CodeObject, TruncatedAtEverySectionBoundaryIsAnError) {
  NEEDS_DATA("triton");
  for (const std::string& path : small_samples()) {
    Bytes whole = samples::load(path);
    auto object = read_code_object(whole, path);
    ASSERT_TRUE(object) << object.error().message;
    for (const Section& s : object->sections)
      for (uint64_t cut : {s.offset, s.offset + s.size, s.offset + s.size / 2})
        if (cut < whole.size()) truncate_and_expect_an_error(whole, cut);
    truncate_and_expect_an_error(whole, whole.size() - 1);
  }
}

TEST(CodeObject, TruncatedAtEachByteOfTheHeadersIsAnError) {
  NEEDS_DATA("triton");
  for (const std::string& path : small_samples()) {
    Bytes whole = samples::load(path);
    uint64_t program_headers = get<uint64_t>(whole, 32), count = get<uint16_t>(whole, 56);
    uint64_t section_headers = get<uint64_t>(whole, 40), sections = get<uint16_t>(whole, 60);
    for (size_t cut = 0; cut < 64; cut++) truncate_and_expect_an_error(whole, cut);
    for (size_t cut = program_headers; cut < program_headers + count * 56; cut++)
      truncate_and_expect_an_error(whole, cut);
    for (size_t cut = section_headers; cut < std::min<size_t>(section_headers + sections * 64, whole.size()); cut++)
      truncate_and_expect_an_error(whole, cut);
  }
}

// What was read must be safe to use: every span lies in the file, every index in its table.
void walk(const CodeObject& object) {
  uint64_t sum = 0;
  for (const Section& s : object.sections)
    for (uint8_t byte : object.data(s)) sum += byte;
  for (const Symbol& s : object.symbols)
    if (s.section < elf::shn_loreserve) sum += object.sections.at(s.section).size;
  for (const Relocation& r : object.relocations)
    sum += object.symbols.at(r.symbol).size + object.sections.at(r.section).size;
  for (const Kernel& k : object.kernels) ASSERT_TRUE(object.section_at(k.entry_address));
  volatile uint64_t keep = sum;
  (void)keep;
}

TEST(CodeObject, RelocationsWithoutASymbolTableAreSafe) {
  auto files = samples::files("mi300a/objects", ".hsaco");
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: no mi300a in the data folder (set ASMEVO_DATA)";
  Bytes bytes = samples::load(files.front());
  uint64_t table;
  uint16_t count;
  std::memcpy(&table, bytes.data() + 40, 8);
  std::memcpy(&count, bytes.data() + 60, 2);
  size_t stripped = 0;
  for (uint8_t* header = bytes.data() + table; header < bytes.data() + table + 64 * count; header += 64) {
    uint32_t type, none = 0, data = elf::sht_progbits;
    std::memcpy(&type, header + 4, 4);
    if (type == elf::sht_symtab) std::memcpy(header + 4, &data, 4);
    if (type != elf::sht_rela) continue;
    std::memcpy(header + 40, &none, 4); // sh_link
    uint64_t offset, size;
    std::memcpy(&offset, header + 24, 8);
    std::memcpy(&size, header + 32, 8);
    for (uint64_t entry = offset; entry < offset + size; entry += 24) std::memcpy(bytes.data() + entry + 12, &none, 4);
    stripped++;
  }
  ASSERT_GT(stripped, 0u);
  auto object = read_code_object(bytes, "stripped");
  EXPECT_FALSE(object); // nothing says where its kernels are
}

TEST(CodeObject, FlippedBytesGiveAnErrorOrAnObjectThatIsSafeToUse) {
  NEEDS_DATA("triton");
  std::mt19937 random(20240601);
  size_t refused = 0, read = 0;
  for (const std::string& path : small_samples()) {
    Bytes whole = samples::load(path);
    uint64_t section_headers = get<uint64_t>(whole, 40);
    for (int round = 0; round < 3000; round++) {
      Bytes bytes = whole;
      for (int flips = 1 + random() % 4; flips > 0; flips--) {
        size_t at = random() % bytes.size();
        if (random() % 2)
          at = random() % 2 ? random() % 0x300 : section_headers + random() % (whole.size() - section_headers);
        bytes[at] = uint8_t(random() % 3 ? random() : 0xff);
      }
      auto object = read_code_object(std::move(bytes), "flip.co");
      if (!object) {
        refused++;
        EXPECT_EQ(object.error().message.rfind("flip.co: ", 0), 0u) << object.error().message;
      } else {
        read++;
        walk(*object);
      }
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(read, 1000u);
}

} // namespace
} // namespace asmevo::object
