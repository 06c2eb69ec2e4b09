// One case under construction.
//
// A case is the file's own content with the case's overrides on top. Both are applied by the same functions, first the
// file and then the case, with the sizes of the case in force all along: that is how one changed size reaches every
// shape, grid and scalar that was written in terms of it. What only the whole case can tell (an argument without its
// buffer, a grid that is too large) is checked when both have been applied.
#pragma once

#include "launch/launch.h"
#include "launch/limits.h"
#include "launch/schema/numbers.h"

namespace asmevo::launch {

class CaseBuilder {
public:
  CaseBuilder(Sizes sizes, std::string directory) : sizes_(std::move(sizes)), directory_(std::move(directory)) {}

  Case result;

  Result<void> apply(const JsonView& object, bool overriding);
  Result<Case> finish(const JsonView& launch);

private:
  struct Pending {
    Argument argument;
    std::optional<uint32_t> offset; // where the file gives one
    uint32_t alignment = 1;
  };

  // grid.cpp
  Result<void> grid(const JsonView& object);
  /// The grid in work-items, where it is no whole number of workgroups; the workgroups follow.
  Result<void> work_items(const JsonView& view);
  Result<std::array<uint32_t, 3>> extent(const JsonView& view, std::string_view what, uint64_t most);
  Result<void> check_grid();

  // buffers.cpp
  Result<void> buffers(const JsonView& object);
  Result<void> buffer(const JsonView& view, const std::string& what, Buffer& out);
  static Fill default_fill(const Buffer& buffer);
  Result<void> shape(const JsonView& view, const std::string& what, Buffer& out);
  Result<void> fill(const JsonView& view, const std::string& buffer, Fill& out);
  Result<void> constant(const JsonView& value, const std::string& what, Fill& out);
  Result<void> file(const JsonView& value, const std::string& what, Fill& out);
  /// 0 stands for the buffer's own number of elements.
  Result<void> count(const JsonView& value, const std::string& what, Fill& out);
  Result<void> pointers(const JsonView& list, const std::string& what, Fill& out);
  static Result<void> special(const JsonView& value, const std::string& what, Fill& out);
  Result<void> range(const JsonView& value, const std::string& what, Fill& out);
  Result<void> check_buffers();
  Result<void> check_pointers(const Buffer& buffer) const;
  Result<void> check_fill(const Buffer& buffer) const;

  // arguments.cpp
  Result<void> arguments(const JsonView& list);
  std::vector<Pending>::iterator find_argument(std::string_view name);
  std::vector<std::string_view> argument_names() const;
  static std::string label(const Argument& argument, size_t index);
  Result<Pending> argument(const JsonView& view, size_t index);
  Result<void> value(const JsonView& view, std::string_view kind, const std::string& what, Pending& out);
  Result<uint64_t> scalar(const JsonView& view, DType type, const std::string& what);
  static Result<void> raw_bytes(const JsonView& view, const std::string& what, Pending& out);
  Result<void> place_arguments();

  // tolerance.cpp
  Result<void> tolerances(const JsonView& object);
  Result<void> check_tolerances();

  Sizes sizes_;
  std::string directory_;
  bool overriding_ = false;
  std::vector<Pending> pending_;
  std::map<std::string, std::string> tolerance_places_;
};

} // namespace asmevo::launch
