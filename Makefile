# make demo    sets up, builds, optimises the softmax of corpus/ and verifies the result
# make test    sets up, builds, runs every test
# make bench   sets up, builds, runs the benchmarks of docs/benchmarks.md
# make bench-compare   the machine's speed against bench/baseline.json: fails where a ratio is 10 % lower
# make bench-timing    the timing model against every measurement of the data folder; draws the pictures of docs/
# make sanitize   the tests once more under AddressSanitizer and UndefinedBehaviorSanitizer
# make kernels    compiles bench/kernels again into corpus/ (clang-22 alone, no ROCm)
# make fuzz       libFuzzer on everything that reads files, FUZZ_SECONDS (600) each
# make fuzz-machine   COUNT (5000) random programs for each of TARGETS, on the machine and on the host
# make fuzz-rules     a tenth of COUNT random programs as the rules of `rewrite` leave them
# make check-programs the MI300A programs of the data folder at all sizes below 10 million wave-instructions
# make kill-test  a search that is killed at KILLS (50) random moments, and one that is not
# make mutants    wrong versions of the corpus kernels, all of which the gate must refuse
# make test-agents   the official MCP client and the Codex CLI of npm against asmevo (skips loudly without node or npm)
# make corpora    round trips and edits of rocRAND, rocSPARSE and compiled kernels for every target (downloads 100 MB)
BUILD ?= build
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
COUNT ?= 5000
SEED ?= 1
KILLS ?= 50
TARGETS ?= gfx908,gfx90a,gfx942,gfx950

.PHONY: configure build demo test bench bench-compare bench-timing sanitize fuzz fuzz-machine fuzz-rules check-programs test-agents mutants kill-test corpora kernels clean

configure:
	@scripts/setup.sh
	@[ -f $(BUILD)/build.ninja ] || cmake -G Ninja -B $(BUILD) -S . > $(BUILD)-configure.log || (cat $(BUILD)-configure.log; exit 1)
	@rm -f $(BUILD)-configure.log

build: configure
	@ninja -C $(BUILD) -j $(JOBS) asmevo

demo: build
	@scripts/demo.sh $(BUILD)/src/asmevo

test: configure
	@ninja -C $(BUILD) -j $(JOBS) asmevo tests
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-tests=error

bench: configure
	@ninja -C $(BUILD) -j $(JOBS)
	@bench/run.sh $(BUILD)

bench-compare: configure
	@ninja -C $(BUILD) -j $(JOBS) bench_machine
	@bench/compare.py $(BUILD)/bench/bench_machine

bench-timing: configure
	@ninja -C $(BUILD) -j $(JOBS) test_timing bench_timing_mi300a bench_timing_aiter
	@bench/timing/compare.sh $(BUILD)

sanitize:
	@scripts/setup.sh
	@cmake -G Ninja -B $(BUILD)-sanitize -S . -DASMEVO_SANITIZE=ON -DASMEVO_BENCH=OFF > /dev/null
	@ninja -C $(BUILD)-sanitize -j $(JOBS) asmevo tests
	@ASAN_OPTIONS=use_sigaltstack=0 ASMEVO_SANITIZED=1 ASMEVO_ISA_LEVEL=v2 ctest --test-dir $(BUILD)-sanitize -j $(JOBS) --output-on-failure --no-tests=error

fuzz:
	@scripts/setup.sh libclang-rt-22-dev
	@cmake -G Ninja -B $(BUILD)-fuzz -S . -DCMAKE_CXX_COMPILER=clang++-22 -DASMEVO_FUZZ=ON -DASMEVO_BENCH=OFF > /dev/null
	@scripts/fuzz.sh $(BUILD)-fuzz $(FUZZ_SECONDS) $(JOBS)

fuzz-machine: configure
	@ninja -C $(BUILD) -j $(JOBS) fuzz_machine
	@$(BUILD)/tests/fuzz/fuzz_machine -seed=$(SEED) -count=$$(($(COUNT) * 9 / 10)) -csmith=$$(($(COUNT) / 10)) \
		-targets=$(TARGETS) -jobs=$(JOBS)

fuzz-rules: configure
	@ninja -C $(BUILD) -j $(JOBS) fuzz_rules
	@$(BUILD)/tests/fuzz/fuzz_rules -seed=$(SEED) -count=$$(($(COUNT) / 10)) -csmith=$$(($(COUNT) / 50)) -batch=4 \
		-targets=$(TARGETS) -jobs=$(JOBS)

check-programs: configure
	@ninja -C $(BUILD) -j $(JOBS) test_machine
	@ASMEVO_PROGRAM_INSTRUCTIONS=10000000 $(BUILD)/tests/test_machine --gtest_filter='Mi300a/*'

mutants: configure
	@ninja -C $(BUILD) -j $(JOBS) mutation_score
	@$(BUILD)/tests/mutation/mutation_score -count=32 $(basename $(notdir $(wildcard corpus/*.json)))

kill-test: build
	@scripts/kill-test.sh $(BUILD)/src/asmevo $(KILLS)
	@scripts/kill-test.sh $(BUILD)/src/asmevo $(KILLS) rewrite

test-agents: build
	@scripts/test-agents.sh $(BUILD)/src/asmevo $(BUILD)

corpora: build
	@scripts/corpora.sh $(BUILD)/src/asmevo $(BUILD)/corpora

kernels:
	@scripts/setup.sh
	@bench/kernels/build.sh corpus

clean:
	@rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-fuzz
