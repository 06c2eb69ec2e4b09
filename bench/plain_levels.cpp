#include "plain_loops.h"

namespace plain {

namespace v2 {
extern const Loops loops;
}
namespace v3 {
extern const Loops loops;
}
namespace v4 {
extern const Loops loops;
}

const Loops& loops(std::string_view level) {
  return level == v4::loops.level ? v4::loops : level == v3::loops.level ? v3::loops : v2::loops;
}

} // namespace plain
