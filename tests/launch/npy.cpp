#include "launch/npy.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::launch;

namespace {

Bytes file_with(std::string header, Bytes data, uint8_t version = 1) {
  std::string text = "\x93NUMPY";
  text += {char(version), 0, char(header.size()), 0};
  if (version > 1) text += std::string(2, 0);
  text += header;
  Bytes file(text.begin(), text.end());
  for (uint8_t byte : data) file.push_back(byte);
  return file;
}

std::string error_of(const Bytes& file) {
  auto array = parse_npy(file, "x.npy");
  return array ? "no error" : array.error().message;
}

} // namespace

TEST(Npy, what_is_written_is_read_back) {
  for (size_t type = 0; type < size_t(DType::count_); ++type)
    for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{6}, {2, 3}, {1, 2, 3}}) {
      if (is_packed(DType(type))) continue; // NumPy has no such types
      Bytes data(6 * size_of(DType(type)));
      for (size_t i = 0; i < data.size(); ++i) data[i] = uint8_t(i * 7 + 1);
      Bytes file = format_npy(DType(type), shape, data);
      EXPECT_EQ((file.size() - data.size()) % 64, 0u);
      auto array = parse_npy(file, "x.npy");
      ASSERT_TRUE(array) << array.error().message;
      EXPECT_EQ(array->shape, shape);
      EXPECT_EQ(array->data, data);
      EXPECT_EQ(array->element_size, size_of(DType(type)));
      EXPECT_EQ(array->dtype.value_or(DType(type)), DType(type));
    }
}

TEST(Npy, a_file_as_numpy_writes_it_is_read) {
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }                                    "
                       "                 \n";
  auto array = parse_npy(file_with(header, {1, 0, 2, 0, 3, 0, 4, 0}), "x.npy");
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->dtype, DType::i16);
  EXPECT_EQ(array->data, (Bytes{1, 0, 2, 0, 3, 0, 4, 0}));
  EXPECT_TRUE(parse_npy(file_with(header, {1, 0, 2, 0, 3, 0, 4, 0}, 2), "x.npy"));
}

TEST(Npy, column_major_and_big_endian_arrays_come_out_row_major_and_little_endian) {
  auto array = parse_npy(
      file_with("{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3)}", {0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6}),
      "x.npy");
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->data, (Bytes{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}));
}

TEST(Npy, damage_is_an_error_with_the_file_in_front) {
  EXPECT_EQ(error_of({}), "x.npy: not a NumPy array file");
  EXPECT_EQ(error_of(file_with("{}", {}, 9)), "x.npy: format version 9.0 is unknown");
  EXPECT_EQ(error_of(file_with("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", Bytes(8))),
            "x.npy: arrays of '<c8' cannot be used as a buffer");
  EXPECT_EQ(error_of(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", Bytes(8))),
            "x.npy: the header says 3 elements of 4 bytes (<f4), the file has 8 bytes of data");
  EXPECT_NE(
      error_of(file_with(
          "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 18446744073709551615)}", Bytes(8))),
      "no error");
  EXPECT_NE(error_of(file_with("{'descr': '<f4'}", Bytes(8))), "no error");
}

TEST(Npy, a_file_cut_anywhere_is_an_error) {
  Bytes file = format_npy(DType::f32, {4}, Bytes(16));
  for (size_t length = 0; length < file.size(); ++length)
    EXPECT_NE(error_of(Bytes(file.begin(), file.begin() + ptrdiff_t(length))), "no error") << length;
}
