// Many code objects, one after another: files, folders of them, and whatever bundles, programs and libraries hold.
#pragma once

#include "support/file.h"
#include "support/result.h"

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace asmevo::cli {

/// One code object. A file that is one itself may be anything: reading it says what.
struct Specimen {
  std::string name; // "lib.so: entry 3.1"
  Bytes bytes;
};

/// What was passed over.
struct PassedOver {
  std::map<std::string, size_t> unsupported; // processor: entries of containers
  size_t other_files = 0;                    // in folders: neither a code object nor a container
};

/// Shows every code object in `paths` to `see`, in order, one unpacked bundle at a time. In containers only those for
/// `target` (all where it is empty) and a supported processor; what of a folder is no code object is passed over.
/// Errors: a path that cannot be read; a container that cannot be opened.
Result<PassedOver> each_specimen(std::span<const std::string> paths, const std::string& target,
                                 const std::function<void(Specimen)>& see);

} // namespace asmevo::cli
