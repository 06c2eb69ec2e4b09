#include "support/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace asmevo {
namespace {

class File : public testing::Test {
protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "asmevo-file-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(folder_.data()));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(File, AMappedFileIsTheFileAndOutlivesItsName) {
  Bytes content(10000, 7);
  content[9999] = 1;
  ASSERT_TRUE(write_file(path("f"), content));
  auto mapped = FileBytes::map(path("f"));
  ASSERT_TRUE(mapped);
  FileBytes copy = *mapped;
  *mapped = FileBytes();
  std::filesystem::remove(path("f"));
  EXPECT_TRUE(std::ranges::equal(copy.span(), content));
}

TEST_F(File, WhatIsForgottenIsReadAgain) {
  Bytes content(100000, 3);
  ASSERT_TRUE(write_file(path("f"), content));
  for (FileBytes bytes : {*FileBytes::map(path("f")), FileBytes(content)}) {
    bytes.forget(10, 60000);
    bytes.forget(90000, ~uint64_t{0});
    EXPECT_TRUE(std::ranges::equal(bytes.span(), content));
  }
}

TEST_F(File, MappingSaysWhatReadingSays) {
  EXPECT_EQ(FileBytes::map(path("none")).error().message, read_file(path("none")).error().message);
  EXPECT_EQ(FileBytes::map(folder_).error().message, read_file(folder_).error().message);
}

TEST_F(File, AnEmptyFileMapsToNothing) {
  ASSERT_TRUE(write_file(path("empty"), {}));
  auto mapped = FileBytes::map(path("empty"));
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(mapped->span().empty());
}

TEST_F(File, WritingReplacesAFileAsAWhole) {
  ASSERT_TRUE(write_text_file(path("f"), "first"));
  auto mapped = FileBytes::map(path("f"));
  ASSERT_TRUE(write_text_file(path("f"), "second, and longer"));
  EXPECT_EQ(std::string(mapped->span().begin(), mapped->span().end()), "first");
  EXPECT_EQ(*read_text_file(path("f")), "second, and longer");
}

} // namespace
} // namespace asmevo
