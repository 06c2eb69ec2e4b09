#include "launch/capture.h"

#include "support/hash.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

Capture example() {
  Capture c;
  c.code_object = {1, 2, 3};
  c.kernel = "softmax";
  c.workgroup_size = {256, 1, 1};
  c.work_items = {1000, 2, 1};
  c.dynamic_lds = 4096;
  c.kernarg = Bytes(40, 7);
  c.regions = {{.name = "in",
                .address = 0x7f0000001000,
                .role = Role::in,
                .dtype = DType::f32,
                .shape = {2, 3},
                .content = Bytes(24, 5)},
               {.name = "out", .address = 0x7f0000000100, .role = Role::out, .dtype = DType::f16, .shape = {4}},
               {.name = "what", .address = 0x7f0000002000, .shape = {100}, .content = Bytes(100, 9)}};
  c.tolerance["out"] = {.relative = 1e-3};
  c.target = "amdgcn-amd-amdhsa--gfx942";
  c.product = "simulated MI300X";
  return c;
}

/// A fresh capture directory.
std::string written(const std::string& name, const Capture& capture = example()) {
  std::string directory = testing::TempDir() + name;
  std::filesystem::remove_all(directory);
  auto result = write_capture(directory, capture);
  EXPECT_TRUE(result) << result.error().message;
  return directory;
}

std::string manifest_error(std::string_view from, std::string_view to) {
  std::string directory = written("damaged"), path = directory + "/manifest.json", text = read_text_file(path).value();
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from << "\n" << text;
  EXPECT_TRUE(write_text_file(path, text.replace(at, from.size(), to)));
  auto launch = read_launch(directory);
  return launch ? "no error" : launch.error().message;
}

} // namespace

TEST(Capture, is_read_back_as_a_launch_with_its_addresses) {
  auto launch = read_launch(written("capture"));
  ASSERT_TRUE(launch) << launch.error().message;
  ASSERT_EQ(launch->cases.size(), 1u);
  const Case& c = launch->cases[0];
  EXPECT_EQ(launch->kernel, "softmax");
  EXPECT_EQ(c.kernel, "softmax");
  EXPECT_EQ(c.workgroups, (std::array<uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(c.work_items, (std::array<uint64_t, 3>{1000, 2, 1}));
  EXPECT_EQ(c.dynamic_lds, 4096u);
  EXPECT_EQ(c.kernarg, Bytes(40, 7));
  EXPECT_TRUE(c.is_fixed());
  EXPECT_EQ(c.tolerance.at("out"), (Tolerance{.relative = 1e-3}));
  const Buffer *in = c.buffer("in"), *out = c.buffer("out"), *what = c.buffer("what");
  EXPECT_EQ(*in->address, 0x7f0000001000u);
  EXPECT_EQ(in->role, Role::in);
  EXPECT_EQ(initial_bytes(c, *in, 0).value(), Bytes(24, 5));
  EXPECT_EQ(out->fill.kind, FillKind::poison);
  EXPECT_EQ(out->dtype, DType::f16);
  EXPECT_EQ(what->role, Role::inout);
  EXPECT_EQ(initial_bytes(c, *what, 0).value(), Bytes(100, 9));
}

TEST(Capture, equal_content_is_stored_once) {
  Capture c = example();
  c.regions[2].content = c.regions[0].content;
  c.regions[2].shape = {24};
  std::string directory = written("shared_content", c);
  auto files = std::filesystem::directory_iterator(directory + "/content");
  EXPECT_EQ(std::distance(begin(files), end(files)), 2); // one for the regions, one for the kernarg segment
}

TEST(Capture, a_corrupted_region_is_found_by_its_hash) {
  std::string directory = written("corrupted");
  auto launch = read_launch(directory);
  ASSERT_TRUE(launch);
  const Buffer& in = *launch->cases[0].buffer("in");
  // Other content under the same name.
  std::string elsewhere = testing::TempDir() + "other_content";
  std::filesystem::create_directories(elsewhere);
  // same size, other bytes
  std::string hash = sha256_hex(Bytes(24, 6));
  std::filesystem::remove_all(testing::TempDir() + "donor");
  Capture donor = example();
  donor.regions[0].content = Bytes(24, 6);
  std::string donor_directory = written("donor", donor);
  std::filesystem::copy_file(donor_directory + "/content/" + hash + ".zst", in.fill.path,
                             std::filesystem::copy_options::overwrite_existing);
  auto bytes = initial_bytes(launch->cases[0], in, 0);
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().message.find("is damaged: its content has the hash " + hash), std::string::npos)
      << bytes.error().message;
}

TEST(Capture, a_region_cut_or_flipped_anywhere_is_an_error) {
  auto launch = read_launch(written("flipped"));
  ASSERT_TRUE(launch);
  const Buffer& in = *launch->cases[0].buffer("in");
  Bytes good = read_file(in.fill.path).value();
  for (size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x41;
    ASSERT_TRUE(write_file(in.fill.path, bad));
    auto bytes = initial_bytes(launch->cases[0], in, 0);
    EXPECT_TRUE(!bytes || *bytes == Bytes(24, 5)) << i;
    bad.assign(good.begin(), good.begin() + ptrdiff_t(i));
    ASSERT_TRUE(write_file(in.fill.path, bad));
    EXPECT_FALSE(initial_bytes(launch->cases[0], in, 0)) << i;
  }
}

TEST(Capture, a_damaged_manifest_is_an_error_with_its_place) {
  EXPECT_NE(
      manifest_error("\"version\": 1", "\"version\": 2").find("manifest.json:1:1: is \"asmevo capture\" version 2"),
      std::string::npos);
  EXPECT_NE(manifest_error("\"0x7f0000001000\"", "\"12 banana\"").find("must be a hexadecimal address below 2^48"),
            std::string::npos);
  EXPECT_NE(manifest_error("\"0x7f0000001000\"", "\"0x7f0000002008\"").find("overlaps"), std::string::npos);
  EXPECT_NE(manifest_error("        100\n", "        17179869170\n").find("has more than 17179869184 bytes of memory"),
            std::string::npos);
  EXPECT_NE(manifest_error("\"regions\"", "\"regionz\"").find("did you mean \"regions\"?"), std::string::npos);
  EXPECT_NE(manifest_error("\"code_object.hsaco\"", "\"../x\"").find("must be a file of the capture"),
            std::string::npos);
  EXPECT_NE(manifest_error("\"size\": 40", "\"size\": 41").find("holds 40 bytes, the manifest says 41"),
            std::string::npos);
  EXPECT_NE(manifest_error("\"name\": \"in\"", "\"name\": \"out\"").find("an earlier region is also named"),
            std::string::npos);
}

TEST(Capture, a_missing_content_file_or_code_object_is_an_error) {
  std::string directory = written("missing");
  std::filesystem::remove_all(directory + "/content");
  EXPECT_NE(read_launch(directory).error().message.find(".zst is missing"), std::string::npos);
  directory = written("missing_object");
  std::filesystem::remove(directory + "/code_object.hsaco");
  EXPECT_NE(read_launch(directory).error().message.find("code_object.hsaco: cannot open"), std::string::npos);
  directory = written("changed_object");
  ASSERT_TRUE(write_file(directory + "/code_object.hsaco", Bytes{1, 2, 4}));
  EXPECT_NE(read_launch(directory).error().message.find("code_object.hsaco: is damaged"), std::string::npos);
}
