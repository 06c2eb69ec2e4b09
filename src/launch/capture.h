// Capture directories: one dispatch with everything it needs to run again.
//
//     DIR/manifest.json            what was dispatched, where memory lay
//     DIR/code_object.hsaco        the code object
//     DIR/content/<sha256>.zst     kernarg segment and memory regions, compressed, by the hash of their content
//
// A capture is replayed with the same addresses, because pointers may lie anywhere: in the kernarg segment, in pointer
// tables, in linked structures. So nothing has to be known about the content; what is known (element type, role) only
// makes comparing more precise than byte by byte. Memory is written anew from the content before every run.
#pragma once

#include "launch/launch.h"

namespace asmevo::launch {

/// Memory of a captured dispatch before it ran.
struct CapturedRegion {
  std::string name;
  uint64_t address = 0;
  Role role = Role::inout; // inout where nothing is known
  DType dtype = DType::u8;
  std::vector<uint64_t> shape;
  Bytes content; // empty for out and scratch, whose content does not matter
};

struct Capture {
  Bytes code_object;
  std::string kernel;
  std::array<uint32_t, 3> workgroup_size{1, 1, 1};
  std::array<uint64_t, 3> work_items{1, 1, 1};
  uint32_t dynamic_lds = 0;
  Bytes kernarg;
  std::vector<CapturedRegion> regions;
  std::map<std::string, Tolerance> tolerance;
  std::string target;            // "amdgcn-amd-amdhsa--gfx942"
  std::string product;           // "simulated MI300X": what a target's name does not tell
  uint64_t queue = 0, index = 0; // which dispatch of which queue it was
};

/// Errors: `directory` is a file, or cannot be written.
Result<void> write_capture(const std::string& directory, const Capture& capture);

/// The launch of a capture: one case whose buffers lie at their addresses. Content is read (and its hash checked) when
/// buffers are filled; here every file must be there. Errors with file and place.
Result<Launch> read_capture(const std::string& directory);

} // namespace asmevo::launch
