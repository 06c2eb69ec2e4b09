// What follows from a program alone and takes long to find out.
//
// Copies of a driver share it: the workers of a team come to the same programs, and a driver that is put back comes to
// its own again. Nothing in it depends on what was asked before.
#pragma once

#include "search/drivers/rewrite/beam.h"

#include <list>

namespace asmevo::search::rewrite {

/// Programs by fingerprint.
class Findings {
public:
  /// Of a rule that times what it finds.
  const std::vector<Idea>& costly_ideas(size_t program, const Rule& rule, const Facts& facts);
  /// What a beam finds worth proposing, the best first.
  const std::vector<Bundled>& beam_of(size_t program, const Facts& facts, Model& model);
  /// What the model says of a program; nothing where it has nothing to say.
  std::optional<double> seconds_of(size_t print, const recover::Program& program, Model& model);
  /// Of the programs that were asked for last.
  std::shared_ptr<KnownSteps> steps(size_t program);

private:
  std::vector<Bundled> search_beam(size_t program, const Facts& facts, Model& model);

  std::map<std::pair<size_t, const Rule*>, std::vector<Idea>> costly_;
  std::map<size_t, std::vector<Bundled>> beams_;
  Modelled modelled_;
  std::list<std::pair<size_t, std::shared_ptr<KnownSteps>>> steps_;
};

} // namespace asmevo::search::rewrite
