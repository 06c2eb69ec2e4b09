#include "machine/dispatch.h"

#include "isa/resources.h"
#include "machine/modal.h"
#include "machine/watcher.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace asmevo::machine {

namespace {

// kernel_code_properties and compute_pgm_rsrc1/2/3: LLVM AMDGPUUsage, "Kernel Descriptor".
namespace property {
constexpr uint32_t private_segment_buffer = 1 << 0, dispatch_ptr = 1 << 1, queue_ptr = 1 << 2, kernarg_ptr = 1 << 3,
                   dispatch_id = 1 << 4, flat_scratch_init = 1 << 5, private_segment_size = 1 << 6,
                   dynamic_stack = 1 << 11;
}
constexpr uint32_t field(uint32_t word, unsigned low, unsigned count) { return word >> low & ((1u << count) - 1); }

constexpr uint32_t preload_entry_offset = 256; // bytes that the fallback prologue takes
constexpr uint32_t not_preloaded = 0x7fc0dead; // as a float a NaN, as an address nowhere
constexpr uint32_t fp16_overflow = 1u << 23;   // of MODE: f16 results saturate
constexpr uint32_t max_user_sgprs = 16;
constexpr uint32_t dynamic_stack_bytes = 16384; // a lane, for recursion and calls through pointers
// Below everything that a device places (device/placement.cpp).
constexpr uint64_t scratch_address = uint64_t{0x7c} << 40;

/// MODE takes float modes, dx10_clamp and ieee from compute_pgm_rsrc1.
uint32_t initial_mode(uint32_t rsrc1) {
  uint32_t mode = field(rsrc1, 12, 8);
  if (field(rsrc1, 21, 1)) mode |= mode::dx10_clamp;
  if (field(rsrc1, 23, 1)) mode |= mode::ieee;
  if (field(rsrc1, 26, 1)) mode |= fp16_overflow;
  return mode;
}

void plan_registers(const object::KernelDescriptor& d, const isa::Target& target, LaunchPlan& plan) {
  const uint32_t granule = target.unified_registers() ? 8 : 4;
  const uint32_t allocated = (field(d.compute_pgm_rsrc1(), 0, 6) + 1) * granule;
  plan.vgpr_rows = allocated;
  if (!target.unified_registers()) {
    plan.agpr_rows = target.has_agprs() ? allocated : 0;
    return;
  }
  plan.accum_offset = (field(d.compute_pgm_rsrc3(), 0, 6) + 1) * 4;
  plan.agpr_rows = allocated > plan.accum_offset ? allocated - plan.accum_offset : 0;
}

/// Instructions that name registers beyond the allocation run in a handler of their own.
void guard_rows(LaunchPlan& plan) {
  const Image::Impl& image = *plan.image;
  auto beyond = [&](const RowsUsed& used) { return used.vgpr > plan.vgpr_rows || used.agpr > plan.agpr_rows; };
  plan.ops = image.ops.data();
  if (std::none_of(image.rows_used.begin(), image.rows_used.end(), beyond)) return;
  plan.own_ops = image.ops;
  for (size_t k = 0; k < image.rows_used.size(); ++k)
    if (beyond(image.rows_used[k])) plan.own_ops[k].run = &run_out_of_range;
  plan.ops = plan.own_ops.data();
}

Result<void> plan_sizes(const Dispatch& dispatch, const std::string& where, LaunchPlan& plan) {
  uint64_t items = 1;
  plan.workgroups = 1;
  for (unsigned d = 0; d < 3; ++d) {
    const uint64_t size = dispatch.workgroup_size[d], count = dispatch.workgroups[d], full = size * count;
    if (size == 0 || size > 1024 || count == 0)
      return fail("{}: a grid of {} workgroups of {} work-items in dimension {}", where, count, size, "xyz"[d]);
    items *= size;
    plan.grid[d] = dispatch.grid_size[d] ? dispatch.grid_size[d] : full;
    if (plan.grid[d] > full || plan.grid[d] <= full - size)
      return fail("{}: {} work-items in dimension {} do not make {} workgroups of {}", where, plan.grid[d], "xyz"[d],
                  count, size);
    if (plan.workgroups > 0xffffffff / count) return fail("{}: more than 2^32 workgroups", where);
    plan.workgroups *= count;
  }
  if (items > 1024) return fail("{}: {} work-items in a workgroup, 1024 are possible", where, items);
  plan.max_waves = uint32_t((items + lanes - 1) / lanes);
  return {};
}

Result<void> plan_preload(const object::KernelDescriptor& d, const Memory& memory, const std::string& where,
                          LaunchPlan& plan) {
  const uint32_t length = d.kernarg_preload() & 127, offset = uint32_t(d.kernarg_preload()) >> 7;
  if (length == 0) return {};
  if (!plan.dispatch.preload) {
    plan.preloaded.assign(length, not_preloaded);
    return {};
  }
  const uint64_t address = plan.dispatch.kernarg_address + 4 * offset;
  const Region* region = memory.find(address, 4 * length);
  if (!region) return fail("{}: {} preloaded kernarg dwords at {:#x} are not mapped", where, length, address);
  plan.preloaded.resize(length);
  std::memcpy(plan.preloaded.data(), region->data + (address - region->base), 4 * length);
  return {};
}

/// Scalar registers fill up one after the other.
struct SgprWriter {
  Wave& w;
  uint32_t at = 0;
  void put(uint32_t value) {
    if (at < slot::flat_scratch) w.sgpr[at] = value;
    ++at;
  }
  void put64(uint64_t value) { put(uint32_t(value)), put(uint32_t(value >> 32)); }
};

/// V# of scratch: swizzled by lane, one dword an element, 64 lanes an index stride.
void put_scratch_resource(SgprWriter& sgprs, const Workgroup& group) {
  sgprs.put(uint32_t(group.scratch_base));
  sgprs.put((uint32_t(group.scratch_base >> 32) & 0xffff) | 1u << 31);
  sgprs.put(0xffffffff);
  sgprs.put(3u << 21 | 1u << 23);
}

void put_user_sgprs(SgprWriter& sgprs, const LaunchPlan& plan, const Workgroup& group, uint32_t properties) {
  const Dispatch& dispatch = plan.dispatch;
  if (properties & property::private_segment_buffer) put_scratch_resource(sgprs, group);
  if (properties & property::dispatch_ptr) sgprs.put64(dispatch.dispatch_ptr);
  if (properties & property::queue_ptr) sgprs.put64(dispatch.queue_ptr);
  if (properties & property::kernarg_ptr) sgprs.put64(dispatch.kernarg_address);
  if (properties & property::dispatch_id) sgprs.put64(0);
  if (properties & property::flat_scratch_init) sgprs.put64(group.scratch_base);
  if (properties & property::private_segment_size) sgprs.put(plan.scratch_bytes);
  for (uint32_t dword : plan.preloaded)
    if (sgprs.at < max_user_sgprs) sgprs.put(dword);
}

/// Work-item ids of `count` lanes from the flat id `first` on: packed into v0, or x, y and z in v0, v1 and v2 as far as
/// `dimensions` asks for them.
void write_work_item_ids(Row* rows, bool packed, uint32_t dimensions, uint32_t first, uint32_t count,
                         const std::array<uint32_t, 3>& size) {
  uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];
  for (uint32_t lane = 0; lane < count; ++lane) {
    rows[0].lane[lane] = packed ? x | y << 10 | z << 20 : x;
    if (!packed && dimensions >= 1) rows[1].lane[lane] = y;
    if (!packed && dimensions >= 2) rows[2].lane[lane] = z;
    if (++x < size[0]) continue;
    x = 0;
    if (++y < size[1]) continue;
    y = 0, ++z;
  }
}

/// What the dispatch puts into scalar registers; says how many are taken.
uint32_t put_scalars(Wave& w, const LaunchPlan& plan, const Workgroup& group, const std::array<uint32_t, 3>& position) {
  const object::KernelDescriptor& d = plan.dispatch.kernel->descriptor;
  SgprWriter sgprs{w};
  put_user_sgprs(sgprs, plan, group, d.kernel_code_properties());
  const uint32_t rsrc2 = d.compute_pgm_rsrc2();
  sgprs.at = std::max(sgprs.at, field(rsrc2, 1, 5));
  for (unsigned k = 0; k < 3; ++k)
    if (field(rsrc2, 7 + k, 1)) sgprs.put(position[k]);
  if (field(rsrc2, 10, 1)) sgprs.put(group.wave_count | w.id << 20 | uint32_t(w.id == 0) << 31);
  const uint64_t wave_scratch = w.id * group.scratch_wave_bytes();
  if (plan.image->target.processor >= isa::Processor::gfx942)
    w.write64(slot::flat_scratch, group.scratch_base + wave_scratch);
  else if (field(rsrc2, 0, 1))
    sgprs.put(uint32_t(wave_scratch));
  return std::min(sgprs.at, slot::flat_scratch);
}

void set_fixed_slots(Wave& w) {
  w.write64(slot::shared_base, shared_aperture);
  w.write64(slot::shared_limit, shared_aperture | 0xffffffff);
  w.write64(slot::private_base, private_aperture);
  w.write64(slot::private_limit, private_aperture | 0xffffffff);
}

} // namespace

Result<LaunchPlan> plan_launch(const Image& image, const Dispatch& dispatch, const Memory& memory) {
  const object::CodeObject& object = image.object();
  const object::Kernel* kernel = dispatch.kernel;
  if (!kernel || object.kernels.empty() || kernel < &object.kernels.front() || kernel > &object.kernels.back())
    return fail("{}: the dispatch names no kernel of this object", object.path);
  const std::string where = fmt::format("{}: kernel `{}`", object.path, kernel->name);
  const object::KernelDescriptor& d = kernel->descriptor;
  LaunchPlan plan;
  plan.image = image.impl.get();
  plan.dispatch = dispatch;
  plan.mode = initial_mode(d.compute_pgm_rsrc1());
  AE_CHECK(plan_sizes(dispatch, where, plan));
  AE_CHECK(plan_preload(d, memory, where, plan));
  const bool preloads = dispatch.preload && !plan.preloaded.empty();
  const int64_t entry = image.impl->index_of(kernel->entry_address + (preloads ? preload_entry_offset : 0));
  if (entry < 0) return fail("{}: its entry at {:#x} is no instruction of .text", where, kernel->entry_address);
  plan.entry = uint32_t(entry);
  plan_registers(d, image.target(), plan);
  guard_rows(plan);
  const uint32_t granule = isa::lds_granule(image.target().processor), limit = isa::lds_size(image.target().processor);
  const uint64_t lds = uint64_t{d.group_segment_fixed_size()} + dispatch.dynamic_lds;
  if (lds > limit) return fail("{}: {} bytes of LDS, {} are possible", where, lds, limit);
  plan.lds_size = uint32_t((lds + granule - 1) / granule * granule);
  if (image.impl->shares_globally) plan.global_share = std::make_shared<GlobalShare>();
  plan.scratch_bytes = (d.private_segment_fixed_size() + 3) & ~3u;
  if (d.kernel_code_properties() & property::dynamic_stack) plan.scratch_bytes += dynamic_stack_bytes;
  if (plan.scratch_bytes > (1u << 24)) return fail("{}: {} bytes of scratch a lane", where, plan.scratch_bytes);
  return plan;
}

Result<Scratch> Scratch::map(const LaunchPlan& plan, Memory& memory, uint32_t slots) {
  Scratch scratch;
  if (plan.scratch_bytes == 0) return scratch;
  scratch.lane_bytes_ = plan.scratch_bytes;
  scratch.slot_bytes_ = uint64_t{plan.scratch_bytes} * lanes * plan.max_waves;
  scratch.base_ = scratch_address;
  AE_TRY(auto bytes, memory.map(scratch.base_, scratch.slot_bytes_ * slots, Access::read_write, "scratch"));
  scratch.data_ = bytes.data();
  scratch.memory_ = &memory;
  return scratch;
}

void leave_undefined(LaunchPlan& plan, uint64_t seed) {
  const uint64_t registers = uint64_t{plan.rows()} * sizeof(Row);
  plan.undefined.resize(std::max<uint64_t>(registers, plan.lds_size) / sizeof(uint32_t));
  uint64_t state = seed;
  for (uint32_t& word : plan.undefined) {
    state = state * 6364136223846793005 + 1442695040888963407;
    word = uint32_t(state >> 32);
  }
}

Scratch::Scratch(Scratch&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), base_(other.base_), slot_bytes_(other.slot_bytes_),
      data_(other.data_), lane_bytes_(other.lane_bytes_) {}

Scratch::~Scratch() {
  if (memory_) memory_->unmap(base_);
}

void Scratch::assign(Workgroup& group, uint32_t slot) const {
  group.scratch_bytes = lane_bytes_;
  group.scratch_base = base_ + slot * slot_bytes_;
  group.scratch = data_ ? data_ + slot * slot_bytes_ : nullptr;
}

DefinedRegisters defined_registers(const LaunchPlan& plan) {
  Wave w;
  DefinedRegisters defined;
  defined.scalars = put_scalars(w, plan, {}, {});
  defined.vectors = plan.image->target.unified_registers()
                        ? 1
                        : std::min(3u, 1 + field(plan.dispatch.kernel->descriptor.compute_pgm_rsrc2(), 11, 2));
  defined.flat_scratch = plan.image->target.processor >= isa::Processor::gfx942;
  return defined;
}

Residence::Residence(const LaunchPlan& plan, const Memory& memory, const Scratch& scratch, uint32_t slot)
    : plan_(plan), approximate_seen_(plan.image->instructions.size()) {
  const uint64_t row_bytes = uint64_t{plan.rows()} * sizeof(Row) * plan.max_waves;
  const uint64_t wave_bytes = sizeof(Wave) * plan.max_waves;
  // Eight bytes more LDS than there is: a check of the first byte of an access suffices where its bytes are then
  // dropped.
  bytes_ = row_bytes + wave_bytes + plan.lds_size + 64;
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  rows_ = static_cast<Row*>(memory_);
  waves_ = reinterpret_cast<Wave*>(static_cast<uint8_t*>(memory_) + row_bytes);
  lds_ = static_cast<uint8_t*>(memory_) + row_bytes + wave_bytes;
  group_.image = plan.image;
  group_.memory = &memory;
  group_.load_base = plan.dispatch.load_base;
  group_.global_share = plan.global_share.get();
  scratch.assign(group_, slot);
}

Residence::~Residence() { munmap(memory_, bytes_); }

void Residence::clear(void* memory, uint64_t bytes) const {
  if (plan_.undefined.empty())
    std::memset(memory, 0, bytes);
  else
    std::memcpy(memory, plan_.undefined.data(), bytes);
}

void Residence::begin(uint32_t workgroup, Tracer* tracer, AccessLog* log) {
  const Dispatch& dispatch = plan_.dispatch;
  std::array<uint32_t, 3> position{workgroup % dispatch.workgroups[0],
                                   workgroup / dispatch.workgroups[0] % dispatch.workgroups[1],
                                   workgroup / dispatch.workgroups[0] / dispatch.workgroups[1]};
  std::array<uint32_t, 3> size{};
  uint32_t items = 1;
  for (unsigned d = 0; d < 3; ++d) {
    const uint64_t first = uint64_t{position[d]} * dispatch.workgroup_size[d];
    size[d] = uint32_t(std::min<uint64_t>(dispatch.workgroup_size[d], plan_.grid[d] - first));
    items *= size[d];
  }
  group_.id = workgroup;
  group_.wave_count = (items + lanes - 1) / lanes;
  group_.at_barrier = group_.ended = 0;
  group_.fault.reset();
  group_.tracer = tracer;
  group_.log = log;
  clear(lds_, plan_.lds_size);
  if (group_.scratch) std::memset(group_.scratch, 0, group_.scratch_wave_bytes() * group_.wave_count);
  for (uint32_t id = 0; id < group_.wave_count; ++id) start_wave(*new (&waves_[id]) Wave, id, position, size);
}

void Residence::watch(Watcher* watcher) {
  group_.watcher = watcher;
  if (watcher) watcher->begin(waves());
}

void Residence::start_wave(Wave& w, uint32_t id, const std::array<uint32_t, 3>& position,
                           const std::array<uint32_t, 3>& size) {
  const Image::Impl& image = *plan_.image;
  const object::KernelDescriptor& d = plan_.dispatch.kernel->descriptor;
  const bool unified = image.target.unified_registers();
  Row* rows = rows_ + uint64_t{plan_.rows()} * id;
  clear(rows, plan_.owned_rows() * sizeof(Row));
  w.spaces[unsigned(RowSpace::vgpr)] = rows;
  w.spaces[unsigned(RowSpace::agpr)] = rows + (unified ? plan_.accum_offset : plan_.vgpr_rows);
  w.spaces[unsigned(RowSpace::constant)] = const_cast<Row*>(image.pool.rows.data());
  w.spaces[unsigned(RowSpace::staging)] = w.staging;
  w.scalars[0] = w.sgpr;
  w.scalars[1] = image.pool.scalars.data();
  w.ops = plan_.ops;
  w.next = plan_.ops + plan_.entry;
  w.vgpr_rows = plan_.vgpr_rows;
  w.agpr_rows = plan_.agpr_rows;
  w.lds = lds_;
  w.lds_size = plan_.lds_size;
  w.workgroup = &group_;
  w.id = id;
  w.approximate_seen = approximate_seen_.data();
  clear(w.sgpr, 102 * sizeof(uint32_t));
  set_mode(w, plan_.mode);
  set_fixed_slots(w);

  const uint32_t items = size[0] * size[1] * size[2], first = id * lanes;
  const uint32_t count = std::min(items - first, lanes);
  w.set_exec(count == lanes ? all_lanes : (uint64_t{1} << count) - 1);
  w.mask_of = all_lanes;
  std::ranges::fill(w.splat_of, ~uint64_t{0});
  std::memset(&w.lane_mask, 0xff, sizeof w.lane_mask);

  put_scalars(w, plan_, group_, position);
  write_work_item_ids(rows, unified, field(d.compute_pgm_rsrc2(), 11, 2), first, count, size);
}

object::KernelDescriptor bare_descriptor(const isa::Resources& resources, const isa::Target& target) {
  object::KernelDescriptor d;
  auto put = [&](size_t at, uint32_t word) {
    for (unsigned k = 0; k < 4; ++k) d.raw[at + k] = uint8_t(word >> (8 * k));
  };
  const uint32_t granule = target.unified_registers() ? 8 : 4;
  const uint32_t rows = std::clamp(isa::total_vgprs(resources, target.processor), 4u, 64 * granule);
  const uint32_t accum_offset = std::clamp(resources.accum_offset ? resources.accum_offset : resources.vgprs, 4u, 256u);
  put(0, resources.lds_bytes);
  put(4, resources.scratch_bytes);
  put(44, target.unified_registers() ? (accum_offset + 3) / 4 - 1 : 0);
  put(48, ((rows + granule - 1) / granule - 1) | 0xf0u << 12 | 1u << 21 | 1u << 23);
  put(52, uint32_t(resources.scratch_bytes != 0) | 2u << 1 | 7u << 7 | 2u << 11);
  put(56, property::kernarg_ptr);
  return d;
}

} // namespace asmevo::machine
