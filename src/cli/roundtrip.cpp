// roundtrip: does a rebuild give the object back, without an edit and after edits that only move things?
#include "cli/corpus.h"
#include "cli/options.h"
#include "recover/edit_trip.h"
#include "report/json.h"
#include "report/text.h"
#include "support/ordered_pool.h"
#include "support/status_line.h"

#include <fmt/ranges.h>
#include <optional>
#include <set>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::vector<std::string> files;
  std::string target;
  unsigned threads = std::max(std::thread::hardware_concurrency(), 1u);
  std::optional<uint64_t> edit_seed;
};

/// What became of one object.
struct Outcome {
  std::string name;
  std::optional<std::string> error;
  recover::RoundTrip trip;
  std::optional<recover::EditTrip> edited;

  bool exact() const { return !error && trip.differences.empty() && (!edited || edited->differences.empty()); }
};

/// One for each target, for a thread.
class Codecs {
public:
  Result<const isa::Codec*> of(const isa::Target& target) {
    std::string id = isa::target_id(target);
    auto known = codecs_.find(id);
    if (known == codecs_.end()) {
      AE_TRY(isa::Codec codec, isa::Codec::create(target));
      known = codecs_.emplace(id, std::move(codec)).first;
    }
    return &known->second;
  }

private:
  std::map<std::string, isa::Codec> codecs_;
};

Result<void> make_trips(Specimen specimen, const Options& options, Codecs& codecs, Outcome& outcome) {
  AE_TRY(object::CodeObject object, object::read_code_object(std::move(specimen.bytes), specimen.name));
  AE_TRY(isa::Target target, isa::target_from_elf(object.e_flags, object.abi_version, specimen.name));
  AE_TRY(const isa::Codec* codec, codecs.of(target));
  AE_TRY(recover::Program program,
         recover::recover(std::make_shared<const object::CodeObject>(std::move(object)), *codec));
  AE_TRY(outcome.trip, recover::round_trip(program, *codec));
  outcome.trip.rebuilt.clear();
  if (options.edit_seed) {
    AE_TRY(outcome.edited, recover::edit_trip(program, *codec, *options.edit_seed));
  }
  return {};
}

class Tally {
public:
  explicit Tally(const Options& options) : options_(options), status_(stderr) {}

  void take(const Outcome& outcome) {
    count_++;
    if (outcome.error) {
      errors_++;
      status_.print(*outcome.error);
      documents_.push_back({{"file", outcome.name}, {"error", *outcome.error}});
    } else {
      succeed(outcome);
    }
    if (status_.live()) status_.show(fmt::format("{} objects, {} not exact", count_, count_ - exact_));
  }

  Result<ExitStatus> finish(const PassedOver& passed_over) {
    status_.finish();
    ExitStatus status = errors_ ? bad_input : exact_ < count_ ? negative : positive;
    if (options_.json) return answer(options_, "", documents_, status);
    std::string text;
    if (count_ != 1 || !passed_over.unsupported.empty() || passed_over.other_files) text += summary(passed_over);
    if (errors_ < count_)
      text += fmt::format("not compared, since the linker decides:\n  {}\n", fmt::join(masked_, "\n  "));
    return answer(options_, text, documents_, status);
  }

private:
  void succeed(const Outcome& outcome) {
    const recover::RoundTrip& trip = outcome.trip;
    if (outcome.exact()) exact_++;
    instructions_ += trip.instructions;
    data_words_ += trip.data_words;
    repairs_ += trip.repairs;
    masked_.insert(trip.masked.begin(), trip.masked.end());
    if (options_.json) {
      documents_.push_back(report::to_json(trip));
      documents_.back()["file"] = outcome.name;
      if (outcome.edited)
        documents_.back()["edited"] = {{"inserted", outcome.edited->inserted},
                                       {"moved", outcome.edited->moved},
                                       {"differences", outcome.edited->differences}};
      return;
    }
    std::string text =
        fmt::format("{}: {}: {} instructions, {} data words, {} kept as raw words", outcome.name,
                    outcome.exact() ? "exact" : "DIFFERS", trip.instructions, trip.data_words, trip.repairs);
    if (outcome.edited)
      text += fmt::format("; edited: {} inserted, {} moved", outcome.edited->inserted, outcome.edited->moved);
    text += '\n';
    for (const std::string& difference : trip.differences) text += fmt::format("{}:   {}\n", outcome.name, difference);
    if (outcome.edited)
      for (const std::string& difference : outcome.edited->differences)
        text += fmt::format("{}:   edited: {}\n", outcome.name, difference);
    fmt::print("{}", text);
  }

  std::string summary(const PassedOver& passed_over) const {
    std::string text = fmt::format(
        "{} objects: {} exact, {} differ, {} errors; {} instructions, {} data words, {} kept as raw words\n",
        report::grouped(count_), report::grouped(exact_), report::grouped(count_ - exact_ - errors_),
        report::grouped(errors_), report::grouped(instructions_), report::grouped(data_words_),
        report::grouped(repairs_));
    for (const auto& [processor, count] : passed_over.unsupported)
      text += fmt::format("{} for {}, which is not supported\n", report::grouped(count), processor);
    if (passed_over.other_files)
      text += fmt::format("{} files of folders are no code objects\n", report::grouped(passed_over.other_files));
    return text;
  }

  const Options& options_;
  StatusLine status_;
  size_t count_ = 0, exact_ = 0, errors_ = 0, instructions_ = 0, data_words_ = 0, repairs_ = 0;
  std::set<std::string> masked_; // over all objects
  nlohmann::json documents_ = nlohmann::json::array();
};

Result<ExitStatus> run(const Options& options) {
  Tally tally(options);
  OrderedPool<Codecs, Outcome> pool(options.threads, [&](Outcome outcome) { tally.take(outcome); });
  auto passed_over = each_specimen(options.files, options.target, [&](Specimen specimen) {
    auto shared = std::make_shared<Specimen>(std::move(specimen));
    pool.add([&options, shared](Codecs& codecs) {
      Outcome outcome{.name = shared->name};
      if (auto done = make_trips(std::move(*shared), options, codecs, outcome); !done)
        outcome.error = done.error().message;
      return outcome;
    });
  });
  pool.finish();
  if (!passed_over) return std::unexpected(passed_over.error());
  return tally.finish(*passed_over);
}

} // namespace

const Verb roundtrip_verb = {
    "roundtrip", "recover and rebuild code objects and compare",
    "  asmevo roundtrip corpus/*.hsaco\n"
    "  asmevo roundtrip libkernels.so --target gfx90a\n"
    "  asmevo roundtrip objects/ --edit 1 -j 8\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            a.add_option("FILE", o.files, "code objects, bundles, programs, libraries, folders")
                ->required()
                ->type_name("");
            a.add_option("--target", o.target, "of what bundles hold, only this processor, with or without features")
                ->type_name("TARGET");
            a.add_option("-j,--threads", o.threads, "objects at a time")->type_name("N")->check(CLI::Range(1, 1024));
            a.add_option("--edit", o.edit_seed,
                         "also insert s_nop at one in twenty instructions and move a block, where SEED says, and "
                         "compare where everything leads")
                ->type_name("SEED");
          },
          run);
    }};

} // namespace asmevo::cli
