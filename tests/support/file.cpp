#include "support/file.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
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

TEST_F(File, WritingToALinkWritesWhatItLeadsTo) {
  ASSERT_TRUE(write_text_file(path("target"), "old"));
  std::filesystem::create_symlink("target", path("link"));
  ASSERT_TRUE(check_writable(path("link")));
  ASSERT_TRUE(write_text_file(path("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(*read_text_file(path("target")), "new");
}

TEST_F(File, APipeIsWrittenToAndNotReplaced) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(check_writable(path("pipe")));
  ASSERT_TRUE(write_text_file(path("pipe"), "text"));
  char buffer[8];
  EXPECT_EQ(read(reader, buffer, sizeof buffer), 4);
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
}

TEST_F(File, ADeviceIsNotRead) {
  EXPECT_EQ(FileBytes::map("/dev/zero").error().message, "/dev/zero: is a device, a file is needed");
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
