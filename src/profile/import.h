// Profiles that other programs measured.
//
// A profiler writes addresses, and text of what it disassembled there. Whether that is the code object at hand nobody
// guarantees: objects are rebuilt, files are mixed up. So every address is looked up in the object and every text is
// compared with the instruction there; the first that disagrees is an error that says what each side has.
//
// What can be read, by content and not by name: PC samples of rocprofv3 (CSV, JSON, rocpd databases), the folder that
// rocprof-compute-viewer opens (its code.json, from thread traces or samples), the statistics that rocprofv3 writes
// beside a thread trace, and counters (rocprof-compute's pmc_perf.csv, rocprofv3's counter_collection.csv).
// docs/profile.md says what was checked against real files.
#pragma once

#include "isa/codec.h"
#include "object/code_object.h"
#include "profile/profile.h"

#include <span>

namespace asmevo::profile {

/// The object that a profile is to be of.
struct Subject {
  const object::CodeObject& object;
  std::span<const isa::Instruction> code; // in address order
  const isa::Codec& codec;
  const object::Kernel* kernel = nullptr; // only of this one; null: of all
};

/// Errors: a file that cannot be read or is none of these; damage, with its place; an address or a text that the object
/// does not have.
Result<Profile> import_profile(const std::string& path, const Subject& subject);

} // namespace asmevo::profile
