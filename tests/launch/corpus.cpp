#include "launch/launch.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace asmevo;

namespace {

struct Loaded {
  object::CodeObject object;
  launch::Launch launch;
  const object::Kernel* kernel = nullptr;
};

Loaded load(const std::string& name) {
  std::string path = std::string(ASMEVO_SOURCE_DIR) + "/corpus/" + name;
  Loaded l;
  auto bytes = read_file(path + ".hsaco");
  auto object = object::read_code_object(*bytes, name + ".hsaco");
  EXPECT_TRUE(object) << object.error().message;
  l.object = *std::move(object);
  auto launch = launch::read_launch(path + ".json");
  EXPECT_TRUE(launch) << launch.error().message;
  l.launch = *std::move(launch);
  auto kernel = object::choose_kernel(l.object, l.launch.kernel);
  EXPECT_TRUE(kernel) << kernel.error().message;
  l.kernel = kernel ? *kernel : nullptr;
  return l;
}

std::string error_of(const Loaded& l) {
  auto checked = launch::check_launch(l.launch, l.object, *l.kernel);
  return checked ? "no error" : checked.error().message;
}

/// softmax.json with one piece of text replaced.
Loaded softmax_with(std::string_view from, std::string_view to) {
  Loaded l = load("softmax");
  std::string text = read_text_file(l.launch.path).value();
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  auto launch = launch::parse_launch(text.replace(at, from.size(), to), "softmax.json");
  EXPECT_TRUE(launch) << launch.error().message;
  l.launch = *std::move(launch);
  return l;
}

} // namespace

TEST(CorpusLaunches, every_object_has_a_launch_that_fits_its_kernel) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ASMEVO_SOURCE_DIR) + "/corpus")) {
    if (entry.path().extension() != ".hsaco") continue;
    EXPECT_EQ(error_of(load(entry.path().stem().string())), "no error") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 8u);
}

TEST(CheckLaunch, a_missing_argument_is_named_with_what_the_kernel_takes) {
  Loaded l =
      softmax_with("    {\"name\": \"columns\", \"i32\": \"columns\"},\n    {\"null\": true},\n    {\"null\": true}",
                   "    {\"null\": true, \"offset\": 24}, {\"null\": true}");
  std::string message = error_of(l);
  EXPECT_TRUE(message.starts_with(
      "softmax.json:11:16: the launch gives 5 arguments and lacks one: kernel `softmax` takes argument 3"))
      << message;
  EXPECT_NE(message.find("4 bytes at offset 20"), std::string::npos) << message;
}

TEST(CheckLaunch, an_argument_of_the_wrong_size_is_named_with_what_the_kernel_takes) {
  std::string message = error_of(
      softmax_with("{\"name\": \"stride\", \"i32\": \"stride\"}", "{\"name\": \"stride\", \"i64\": \"stride\"}"));
  EXPECT_TRUE(message.starts_with(
      "softmax.json:14:5: argument \"stride\" (8 bytes at offset 16) does not fit kernel `softmax`"))
      << message;
}

TEST(CheckLaunch, an_argument_beyond_the_kernarg_segment_is_an_error) {
  std::string message = error_of(softmax_with("{\"null\": true}\n", "{\"null\": true}, {\"u64\": 1}\n"));
  EXPECT_NE(message.find("ends beyond the kernarg segment of kernel `softmax`, which has 40 bytes"), std::string::npos)
      << message;
}

TEST(CheckLaunch, a_workgroup_larger_than_the_kernel_was_compiled_for_is_an_error) {
  std::string message = error_of(softmax_with("\"workgroup_size\": 256", "\"workgroup_size\": 512"));
  EXPECT_NE(message.find("softmax.json:5:21: a workgroup of 512 work-items, kernel `softmax` was compiled for"),
            std::string::npos)
      << message;
}

TEST(CheckLaunch, more_LDS_than_the_hardware_has_is_an_error) {
  std::string message = error_of(softmax_with("\"dynamic_lds\": 4096", "\"dynamic_lds\": 65537"));
  EXPECT_NE(message.find("are more than the 65536 of gfx942"), std::string::npos) << message;
}

TEST(CheckLaunch, another_kernel_than_the_launch_names_is_an_error) {
  Loaded l = softmax_with("\"softmax\"", "\"softmax2\"");
  EXPECT_EQ(error_of(l), "softmax.json: the launch is for kernel `softmax2`, not `softmax`");
}
