// extract: the code objects that a bundle, an executable or a library holds.
#include "cli/contents.h"
#include "cli/options.h"
#include "report/text.h"
#include "support/status_line.h"

#include <filesystem>

namespace asmevo::cli {
namespace {

struct Options : Common {
  std::string file, output, directory;
  Choice choice;
};

constexpr std::string_view packing_names[] = {"bare", "plain bundle", "zlib", "zstd"};
constexpr size_t named_kernels = 3;

std::string line_of(const Content& content, const object::Bundle& bundle) {
  std::string kernels = fmt::format("{} kernel{}", content.kernels.size(), content.kernels.size() == 1 ? "" : "s");
  for (size_t i = 0; i < std::min(content.kernels.size(), named_kernels); i++)
    kernels += (i ? ", " : ": ") + std::string(cut_to_columns(content.kernels[i], 40));
  if (content.kernels.size() > named_kernels) kernels += ", ...";
  if (content.problem) kernels = *content.problem;
  return fmt::format("{:<8} {:<24} {:>12} bytes  {:<12}  {}\n", content.id, content.target,
                     report::grouped(content.place.bytes.size()), packing_names[size_t(bundle.packing)], kernels);
}

// DIR/gfx90a_xnack-/3.1.hsaco: by target, and in a target by place.
std::string file_name(const std::string& directory, const Content& content) {
  std::string target = content.target.empty() ? "unknown" : content.target;
  for (char& c : target)
    if (c == ':' || c == '/') c = '_';
  return (std::filesystem::path(directory) / target / (content.id + ".hsaco")).string();
}

Result<void> write_into(const std::string& path, const Content& content) {
  std::error_code error;
  auto folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) return fail("{}: cannot create: {}", folder.string(), error.message());
  return write_file(path, content.place.bytes);
}

class Extraction {
public:
  Extraction(const Options& options, const object::Container& container)
      : options_(options), container_(container), status_(stderr) {}

  Result<void> see(const Content& content) {
    nlohmann::json document = to_json(content);
    if (!options_.directory.empty()) {
      std::string path = file_name(options_.directory, content);
      AE_CHECK(write_into(path, content));
      document["output"] = path;
      if (status_.live()) status_.show(fmt::format("{} code objects written", documents_.size() + 1));
    }
    if (!options_.output.empty()) kept_.assign(content.place.bytes.begin(), content.place.bytes.end());
    lines_ += line_of(content, container_.bundles[content.place.bundle]);
    documents_.push_back(std::move(document));
    return {};
  }

  Result<ExitStatus> finish() {
    if (documents_.empty())
      return fail("{}: no code object {}in {} bundle{}", options_.file, asked() ? "of that kind " : "",
                  container_.bundles.size(), container_.bundles.size() == 1 ? "" : "s");
    if (!options_.output.empty()) {
      if (documents_.size() > 1)
        return fail("{}: {} code objects are meant, one can go to {}: add --target, --kernel or --entry\n{}",
                    options_.file, documents_.size(), options_.output, lines_);
      AE_CHECK(write_file(options_.output, kept_));
      documents_[0]["output"] = options_.output;
      lines_.clear();
    }
    return answer(options_, lines_,
                  {{"file", options_.file}, {"bundles", container_.bundles.size()}, {"code_objects", documents_}});
  }

private:
  bool asked() const {
    return !options_.choice.target.empty() || !options_.choice.kernel.empty() || !options_.choice.entry.empty();
  }

  const Options& options_;
  const object::Container& container_;
  StatusLine status_;
  std::string lines_;
  Bytes kept_;
  nlohmann::json documents_ = nlohmann::json::array();
};

Result<ExitStatus> run(const Options& options) {
  if (!options.output.empty()) AE_CHECK(check_writable(options.output));
  AE_TRY(object::Container container, open_container(options.file));
  Extraction extraction(options, container);
  AE_CHECK(each_content(container, options.choice, [&](const Content& c) { return extraction.see(c); }));
  return extraction.finish();
}

} // namespace

const Verb extract_verb = {
    "extract", "list or write the code objects that a bundle, program or library holds",
    "  asmevo extract libkernels.so\n"
    "  asmevo extract libkernels.so --target gfx942 --kernel softmax -o softmax.hsaco\n"
    "  asmevo extract libkernels.so --target gfx90a:xnack- -d objects/\n",
    [](CLI::App& app) {
      return declare<Options>(
          app,
          [](CLI::App& a, Options& o) {
            file_option(a, o.file, "FILE", "offload bundle, compressed or not, or host program or library");
            a.add_option("--target", o.choice.target, "only for this processor, with or without features")
                ->type_name("TARGET");
            a.add_option("--kernel", o.choice.kernel, "only what holds this kernel")->type_name("NAME");
            a.add_option("--entry", o.choice.entry, "only this one, as the list numbers them")->type_name("B.E");
            output_option(a, o.output, "write the one code object that is meant");
            a.add_option("-d,--directory", o.directory, "write all that are meant, as DIR/TARGET/B.E.hsaco")
                ->type_name("DIR")
                ->excludes("--output");
          },
          run);
    }};

} // namespace asmevo::cli
