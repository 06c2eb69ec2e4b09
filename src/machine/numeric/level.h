// Semantics are compiled several times, for x86-64-v2, -v3 and -v4, and one set is chosen at start-up. Inline functions
// of the three must not meet at link time (the linker keeps one copy, and it may hold instructions this host lacks), so
// everything they use lives in an inline namespace that is named after the level: ASMEVO_ISA in the semantics files,
// `portable` everywhere else.
#pragma once

#ifdef ASMEVO_ISA
#define ASMEVO_LEVEL ASMEVO_ISA
#else
#define ASMEVO_LEVEL portable
#endif
