// roundtrip: does an unedited rebuild give the object back?
#include "cli/options.h"
#include "report/json.h"

#include <fmt/ranges.h>
#include <set>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::vector<std::string> files;
};

std::string text_of(const std::string& file, const recover::RoundTrip& trip) {
  std::string out =
      fmt::format("{}: {}: {} instructions, {} data words, {} kept as raw words\n", file,
                  trip.differences.empty() ? "exact" : "DIFFERS", trip.instructions, trip.data_words, trip.repairs);
  for (const std::string& difference : trip.differences) out += fmt::format("{}:   {}\n", file, difference);
  return out;
}

Result<ExitStatus> run(const Options& options) {
  ExitStatus status = positive;
  std::string text;
  nlohmann::json documents = nlohmann::json::array();
  std::set<std::string> masked; // over all files
  for (const std::string& file : options.files) {
    AE_TRY(Input input, open_input(file));
    AE_TRY(recover::Program program, recover::recover(input.object, input.codec));
    AE_TRY(recover::RoundTrip trip, recover::round_trip(program, input.codec));
    if (!trip.differences.empty()) status = negative;
    text += text_of(file, trip);
    documents.push_back(report::to_json(trip));
    documents.back()["file"] = file;
    masked.insert(trip.masked.begin(), trip.masked.end());
  }
  text += fmt::format("not compared, since the linker decides:\n  {}\n", fmt::join(masked, "\n  "));
  return answer(options, text, documents, status);
}

} // namespace

const Verb roundtrip_verb = {
    "roundtrip", "recover and rebuild code objects unedited and compare", "  asmevo roundtrip corpus/*.hsaco\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            a.add_option("FILE", o.files, "code objects (.hsaco, .co)")->required()->type_name("");
          },
          run);
    }};

} // namespace asmevo::cli
