// One interface for whatever runs a code object: the simulated device, or later a real GPU through HSA.
#pragma once

#include "device/contents.h"
#include "launch/launch.h"
#include "machine/machine.h"
#include "timing/timing.h"

namespace asmevo::device {

/// A code object on a device.
struct Loaded {
  std::shared_ptr<const object::CodeObject> object;
  std::optional<machine::Image> image;
};

/// A byte of a buffer.
struct Place {
  std::string buffer;
  uint64_t offset = 0;
};

/// Who stored to a byte last.
struct Writer {
  uint64_t address = 0; // of the instruction, in the object
  std::string_view mnemonic;
  uint32_t workgroup = 0, wave = 0;
  unsigned lane = 0;
};

/// Memory of a case after a launch, by buffer name, with its guards.
struct Outcome {
  machine::Status status = machine::Status::completed;
  std::optional<machine::Fault> fault;
  std::map<std::string, Contents> buffers; // final contents of out and inout buffers; empty unless completed
  std::vector<std::string> guard_damage;   // "guard after `out`: 4 bytes changed at +0"
  std::vector<std::string>
      read_only_damage; // "global_store_dword writes 4 bytes at +0x10 of `in`, which is read-only (...)"
  uint64_t instructions = 0;
  machine::Fidelity fidelity;
  std::vector<machine::Standing> standing;    // where waves were, where the launch did not complete
  machine::StrictReport strict;               // of the last run, where LaunchOptions asked for it
  std::vector<uint64_t> executed;             // likewise, by instruction of the image
  std::vector<std::optional<Writer>> writers; // of LaunchOptions::watched; nothing where nobody stored
};

/// A launch before the one that is meant.
struct EarlierLaunch {
  launch::Case c; // its buffers have the same sizes
  bool preload = true;
  std::optional<machine::Schedule> schedule; // nothing: that of the one that is meant
};

struct LaunchOptions {
  uint64_t poison_seed = 1; // of results, scratch and guards
  unsigned placement = 0;   // other values: buffers at other addresses and in another order, aligned to 256 bytes only
  /// Run before in the same memory, which then holds their results and scratch; inputs are written anew for each run.
  std::vector<EarlierLaunch> earlier;
  /// Told of each of these when it has ended, and says whether to go on. Its contents are there for as long as that.
  std::function<bool(const Outcome&)> on_earlier;
  bool preload = true; // kernel arguments, where the kernel asks for it; false: its prologue has to load them
  /// Bytes whose last writers the last run tells. That run is slower and has one thread; it takes the place of
  /// run.debugging.
  std::vector<Place> watched;
  machine::RunOptions run;
};

struct TimeOptions {
  unsigned draws = 16;
  uint64_t seed = 0;
  bool attribution = false;
  size_t timeline = 0; // timing::EstimateOptions
  bool sensitivity = false;
  bool power_limited = false;
  bool rehearsal = false;          // Estimate::rehearsal, where the device is simulated
  uint64_t instruction_budget = 0; // of the workgroups that are executed for it; 0: as for any run
  /// As if the kernel declared these, dynamic LDS included; only occupancy depends on them.
  std::optional<isa::Resources> resources;
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string description() const = 0; // "simulated MI300X"
  virtual bool simulated() const = 0;
  virtual Result<Loaded> load(std::shared_ptr<const object::CodeObject> object) = 0;
  /// Fresh buffers with guards around each, initial contents, kernarg; runs; reads back.
  virtual Result<Outcome> launch(const Loaded& loaded, const launch::Case& c, const LaunchOptions& options) = 0;
  virtual Result<timing::Estimate> time(const Loaded& loaded, const launch::Case& c, const TimeOptions& options) = 0;
};

/// The simulated device. `part` is a DeviceTable name; empty takes the default part of the object's processor at load.
Result<std::unique_ptr<Device>> make_simulated(const isa::Target& target, const std::string& part);

} // namespace asmevo::device
