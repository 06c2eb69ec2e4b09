#include "launch/launch.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

constexpr uint64_t base = 0x7f0000001000;

/// A directory as kerncap's replay reads it, around corpus/rowsum.hsaco.
std::string written(const std::string& name) {
  const std::string directory = testing::TempDir() + name;
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory + "/memory");
  Bytes object = read_file(std::string(ASMEVO_SOURCE_DIR) + "/corpus/rowsum.hsaco").value();
  EXPECT_TRUE(write_file(directory + "/kernel.hsaco", object));
  EXPECT_TRUE(write_text_file(directory + "/dispatch.json", R"json({
  "mangled_name": "rowsum", "demangled_name": "rowsum(float*, float const*, int)",
  "grid": [1024, 1, 1], "block": [256, 1, 1],
  "kernarg_size": 24, "group_segment_size": 1536, "private_segment_size": 0
})json"));
  EXPECT_TRUE(write_file(directory + "/kernarg.bin", Bytes(280, 3)));
EXPECT_TRUE(write_text_file(directory + "/memory_regions.json",
                            fmt::format(R"({{"regions": [{{"base": {}, "size": 16}}, {{"base": {}, "size": 64}}]}})",
                                        base, base + 4096)));
EXPECT_TRUE(write_file(directory + "/memory/region_7f0000001000.bin", Bytes(16, 1)));
EXPECT_TRUE(write_file(directory + "/memory/region_7f0000002000.bin", Bytes(64, 2)));
return directory;
}

std::string error_after(const std::string& file, std::string_view from, std::string_view to) {
  const std::string directory = written("kerncap_damaged"), path = directory + "/" + file;
  std::string text = read_text_file(path).value();
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  EXPECT_TRUE(write_text_file(path, text.replace(at, from.size(), to)));
  auto launch = read_launch(directory);
  return launch ? "no error" : launch.error().message.substr(directory.size() + 1);
}

} // namespace

TEST(Kerncap, a_capture_is_recognised_by_its_dispatch_and_replays_at_its_addresses) {
  auto launch = read_launch(written("kerncap"));
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->kernel, "rowsum");
  const Case& c = launch->cases.at(0);
  EXPECT_EQ(c.workgroups, (std::array<uint32_t, 3>{4, 1, 1}));
  EXPECT_EQ(c.work_items, (std::array<uint64_t, 3>{1024, 1, 1}));
  EXPECT_EQ(c.dynamic_lds, 512u); // of 1536; the descriptor asks for 1024
  EXPECT_EQ(c.kernarg, Bytes(280, 3));
  const Buffer* region = c.buffer("region_7f0000002000");
  ASSERT_TRUE(region);
  EXPECT_EQ(region->address, base + 4096);
  EXPECT_EQ(region->role, Role::inout);
  EXPECT_EQ(initial_bytes(c, *region, 0).value(), Bytes(64, 2));
}

TEST(Kerncap, other_content_gives_another_hash) {
  auto before = read_launch(written("kerncap"));
  const std::string directory = written("kerncap");
  ASSERT_TRUE(write_file(directory + "/memory/region_7f0000001000.bin", Bytes(16, 9)));
  auto after = read_launch(directory);
  ASSERT_TRUE(before && after);
  EXPECT_NE(before->hash, after->hash);
}

TEST(Kerncap, damage_is_an_error_with_its_place) {
  EXPECT_EQ(error_after("dispatch.json", "[256, 1, 1]", "[256, 1, 0]"),
            "dispatch.json:3:43: \"block\" is 0, allowed is 1 to 1024");
  EXPECT_EQ(error_after("dispatch.json", "\"grid\"", "\"grit\""), "dispatch.json:1:1: needs \"grid\"");
  EXPECT_NE(error_after("dispatch.json", "\"rowsum\"", "\"colsum\"").find("dispatch.json:2:19: "), std::string::npos);
  EXPECT_NE(error_after("memory_regions.json", "\"size\": 16", "\"size\": 17").find("the region has 17 bytes, "),
            std::string::npos);
  EXPECT_NE(error_after("memory_regions.json", "\"size\": 16", "\"size\": 0").find("\"size\" is 0"), std::string::npos);
}

TEST(Kerncap, missing_files_are_named) {
  for (const char* file : {"kernarg.bin", "kernel.hsaco", "memory_regions.json", "memory/region_7f0000001000.bin"}) {
    const std::string directory = written("kerncap_missing");
    std::filesystem::remove(directory + "/" + file);
    auto launch = read_launch(directory);
    ASSERT_FALSE(launch);
    EXPECT_NE(launch.error().message.find(file), std::string::npos) << launch.error().message;
  }
}
