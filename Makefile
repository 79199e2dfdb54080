# Tessera: builds build/tessera/core.so and build/libtessera.a from core/ and lua/binding/. `make help` lists the targets.

VERSION := $(shell sed -n 's/.*{version = "\(.*\)"}.*/\1/p' lua/tessera/init.lua)
BUILD   ?= build
LUA     ?= lua5.4
BUSTED  ?= /usr/bin/busted
ifeq ($(origin CC),default)
CC      := gcc
endif
CFLAGS  ?= -O3 -g
WARN    ?= -Wall -Wextra -Wpedantic
# `make V=1` shows the commands.
Q       := $(if $(V),,@)

# Where `make install` puts things. The last two carry the names of Lua's own Makefile; LuaRocks sets them.
PREFIX       ?= /usr/local
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include/tessera
DOCDIR       ?= $(PREFIX)/share/doc/tessera
INSTALL_LMOD ?= $(PREFIX)/share/lua/5.4
INSTALL_CMOD ?= $(PREFIX)/lib/lua/5.4
# Where the command finds them when it runs: LuaRocks moves what it had put there.
RUN_LMOD     ?= $(INSTALL_LMOD)
RUN_CMOD     ?= $(INSTALL_CMOD)
# What is relative is so from here, but the command runs elsewhere. (Make's own abspath takes a name with blanks apart.)
absolute      = $(if $(filter-out /%,$(firstword $(1))),$(CURDIR)/)$(1)
$(foreach place,PREFIX BINDIR LIBDIR INCLUDEDIR DOCDIR INSTALL_LMOD INSTALL_CMOD,\
  $(eval override $(place) := $$(call absolute,$$($(place)))))
INSTALL      ?= install
# A place as tessera.pc names it: from where that lies, since an installation may be moved, as LuaRocks does.
from_pc       = $${pcfiledir}/"$(shell realpath -m --relative-to='$(LIBDIR)/pkgconfig' '$(1)')"
# A name below DESTDIR, in quotes: it may hold blanks.
into          = '$(DESTDIR)$(1)'
# What quotes, sed and the command, a script, would take for something of theirs.
FOREIGN       = $(foreach c,' " ` & | \,$(findstring $c,$(DESTDIR)$(BINDIR)$(LIBDIR)$(INCLUDEDIR)$(DOCDIR)$(INSTALL_LMOD)$(INSTALL_CMOD)))
must_be_plain = $(if $(strip $(FOREIGN)),$(error PREFIX, DESTDIR and the like cannot hold $(strip $(FOREIGN))))
HEADERS       = $(filter %.h,$(shell $(CC) -MM core/tessera.h))

# With `make setup test` on a bare machine, everything waits for setup: also with -j, and nothing that setup installs is
# asked for while this file is read (LUA_CFLAGS and LUA_LIBS are expanded by the recipes that use them).
SETUP      := $(filter setup,$(MAKECMDGOALS))
LUA_LIBS    = $(if $(LUA_LIBDIR),-L$(LUA_LIBDIR) -llua,$(shell pkg-config --libs lua5.4 2>/dev/null || pkg-config --libs lua))
LUA_CFLAGS  = $(if $(LUA_INCDIR),-I$(LUA_INCDIR),$(shell pkg-config --cflags lua5.4 2>/dev/null || pkg-config --cflags lua))

# Contracting a*b + c into one rounding would make the merge of two summaries depend on their order; -ffast-math would
# switch off denormals for the whole process. Through the linker's table a call of SLEEF takes longer, by where that lies.
BASE   := -std=gnu11 -fPIC -fno-plt -fvisibility=hidden -ffp-contract=off -fno-math-errno -fopenmp -MMD -MP
LIBS   := -lsleef -lmpfr -lgmp -lm
# libgomp's workers outlive dlclose, so the module must never be unmapped.
SHARED := -shared -Wl,-z,nodelete -Wl,--as-needed -Wl,--version-script=lua/binding/module.map

# One file of inner loops for each instruction set of this architecture, with the flags that it needs.
ISAS_x86_64  := sse2 avx2 avx512
ISAS_aarch64 := neon
ISAS         := $(ISAS_$(firstword $(subst -, ,$(shell $(CC) -dumpmachine))))
FLAGS_sse2   := -msse2
FLAGS_avx2   := -mavx2 -mfma
FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma -mprefer-vector-width=512

OTHER_ISAS := $(filter-out $(ISAS),sse2 avx2 avx512 neon)
CORE_C     := $(filter-out $(OTHER_ISAS:%=core/kernel/%.c),$(wildcard core/*.c core/kernel/*.c))
BINDING_C  := $(wildcard lua/binding/*.c)
CORE_O     := $(CORE_C:%.c=$(BUILD)/obj/%.o)
BINDING_O  := $(BINDING_C:%.c=$(BUILD)/obj/%.o)
MPI_O      := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard lua/mpi/*.c))
PROGRAMS   := $(patsubst spec/core/%.c,$(BUILD)/spec/%,$(wildcard spec/core/*.c))
# RUN stands before the interpreter: a debugger, or an environment.
LUA_RUN     = LUA_PATH_5_4='lua/?.lua;lua/?/init.lua;;' LUA_CPATH_5_4='$(BUILD)/?.so;;' TESSERA_BUILD='$(BUILD)' $(RUN) $(LUA)

# In the order in which they start, several at once: the longest first. What stands behind `--` runs by itself.
CHECKS := test calls asan coverage isa sanitized clang fuzz files mpi poly gcc starve exit tsan valgrind random lua format exports -- signals

.PHONY: all mpi setup programs test test-mpi bench-mpi check soak coverage $(patsubst %,check-%,$(filter-out --,$(CHECKS))) run-parallel \
  run-ranks fuzzers demo repl docs bench scale bounds mutate install uninstall deb clean help
.DELETE_ON_ERROR:

all: $(BUILD)/tessera/core.so ## build the module and the C library (the default)

$(BUILD)/libtessera.a: $(CORE_O) | $(SETUP)
	@mkdir -p $(@D) && rm -f $@ && echo "  ar  $@"
	$(Q)ar rcs $@ $^

$(BUILD)/tessera/core.so: $(BINDING_O) $(BUILD)/libtessera.a lua/binding/module.map | $(SETUP)
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) $(CFLAGS) $(SHARED) -o $@ $(filter-out %.map,$^) -fopenmp $(LIBS) $(LDFLAGS)
	@! nm -u $@ | grep ' U ts_' # a module may lack symbols, but those are for Lua to bring

$(BUILD)/obj/core/%.o: core/%.c | $(SETUP)
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) $(FLAGS_$(basename $(@F))) -c $< -o $@

$(BUILD)/obj/lua/%.o: lua/%.c | $(SETUP)
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) $(LUA_CFLAGS) -c $< -o $@

$(BUILD)/spec/%: spec/core/%.c $(BUILD)/libtessera.a | $(SETUP)
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) -Icore -Ispec/core $< -o $@ $(BUILD)/libtessera.a $(LIBS) $(LDFLAGS)

# Lua as a shared library, whose symbols the module finds as it finds those of lua5.4.
$(BUILD)/host: spec/host/host.c | $(SETUP)
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) $(LUA_CFLAGS) $< -o $@ $(LUA_LIBS) $(LDFLAGS)

# Types at the prompt for spec/repl_spec.lua; has a Lua that modules cannot see for spec/build_spec.lua.
$(BUILD)/pty $(BUILD)/private: $(BUILD)/%: spec/host/%.c | $(SETUP)
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) -std=gnu11 $(WARN) $(CFLAGS) $(LUA_CFLAGS) $< -o $@ -ldl $(LDFLAGS)

# Only `make mpi` asks for MPI. Its module merges with the core's own code, and brings no other part of it.
$(BUILD)/obj/lua/mpi/%.o: lua/mpi/%.c
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) $(BASE) $(WARN) $(CFLAGS) $(LUA_CFLAGS) $(subst -I,-isystem ,$(shell mpicc --showme:compile)) -c $< -o $@

$(BUILD)/tessera/mpi.so: $(MPI_O) $(BUILD)/libtessera.a lua/binding/module.map
	@mkdir -p $(@D) && echo "  cc  $@"
	$(Q)$(CC) $(CFLAGS) $(SHARED) -o $@ $(filter-out %.map,$^) -fopenmp $(LIBS) $(shell mpicc --showme:link) $(LDFLAGS)
	@! nm -u $@ | grep ' U ts_'

mpi: all $(BUILD)/tessera/mpi.so ## build tessera.mpi: attention over many processes (needs scripts/setup --mpi)

# What install and deb bring besides: tessera.mpi where it was built, or is asked for in the same breath.
BUILT_MPI := $(if $(wildcard $(BUILD)/tessera/mpi.so)$(filter mpi,$(MAKECMDGOALS)),$(BUILD)/tessera/mpi.so)

setup: ## install the packages that are missing
	scripts/setup

programs: $(PROGRAMS) $(BUILD)/host $(BUILD)/pty $(BUILD)/private

test: all programs ## run the specs; ends with "N passed, N failed" (SPECS=FILE: of that file)
	$(Q)$(LUA_RUN) $(BUSTED) --ignore-lua --output=spec/tally.lua $(SPECS)

test-mpi: mpi programs ## run the specs of tessera.mpi, on up to seven processes
	$(Q)$(LUA_RUN) $(BUSTED) --ignore-lua --output=spec/tally.lua $(or $(SPECS),$(filter-out %/figures.lua,$(wildcard spec/mpi/*.lua)) spec/docs_spec.lua spec/help_spec.lua)

bench-mpi: mpi ## memory on four processes beside that of one, time on two, and how their messages pass during work
	$(Q)$(LUA_RUN) $(BUSTED) --ignore-lua spec/mpi/figures.lua

# Each can be run by itself, `make check-asan`. What several of them build is built before they run at once.
check: all programs ## linters, compilers, sanitizers, instruction sets, fuzzers, coverage: each a check-NAME
	$(MAKE) -j$$(nproc) --no-print-directory $(ASAN) all programs build/check-asan/bin $(HAS_MPI)
	TESSERA_SLOW=$${TESSERA_SLOW:-4} scripts/check $(filter-out $(WITHOUT),$(CHECKS))

check-test: test

# The word mpi where MPI is here; and where it starts processes, too, which it does not in some sandboxes.
HAS_MPI   = $(shell command -v mpicc >/dev/null && echo mpi)
RANKS     = env $(shell $(LUA_RUN) -e 'print(require "spec.mpirun".environment)') mpirun -n 2
HAS_RANKS = $(and $(HAS_MPI),$(shell $(RANKS) true >/dev/null 2>&1 && echo mpi))

check-lua:
	luacheck -q --no-color .

check-format:
	clang-format --dry-run -Werror $(wildcard core/*.[ch] core/kernel/*.[ch] core/kernel/*.inc lua/binding/*.[ch] lua/mpi/*.[ch] spec/host/*.c spec/core/*.[ch] spec/fuzz/*.[ch])

check-exports: all # the module shows one symbol, and brings no Lua of its own
	nm -D --defined-only $(BUILD)/tessera/core.so | awk '{ print $$3 } $$3 != "luaopen_tessera_core" { bad = 1 } END { exit bad || NR != 1 }'
	! ldd $(BUILD)/tessera/core.so | grep liblua
	readelf -d $(BUILD)/tessera/core.so | grep NODELETE

WERROR = BUILD=build/check-$* CC=$* WARN='$(WARN) -Werror'
check-gcc check-clang: check-%: all # check-test runs what gcc has built
	$(MAKE) --no-print-directory $(WERROR) all programs $(HAS_MPI)
	$(if $(filter clang,$*),$(MAKE) --no-print-directory $(WERROR) test)

# For each further instruction set of this processor, the specs that its kernels could make fail.
NO_KERNEL    := bench blame build cases csv diff display docs experiment files fuzz help helper interrupt layers load mutations npy npz \
  number options page plot progress repl safetensors scripts
KERNEL_SPECS := $(filter-out $(NO_KERNEL:%=spec/%_spec.lua),$(wildcard spec/*_spec.lua))
check-isa: all programs
	set -e; for isa in $$(scripts/isas | head -n -1); do echo "TESSERA_ISA=$$isa"; \
	  TESSERA_ISA=$$isa $(MAKE) --no-print-directory test SPECS='$(KERNEL_SPECS)'; done

check-random: all # ten times the random predicates and scores that the specs draw by themselves
	TESSERA_FUZZ=20000 $(LUA_RUN) $(BUSTED) --ignore-lua spec/lift_spec.lua spec/score_spec.lua

check-poly: programs # exp = "poly" on every f32 there is
	$(BUILD)/spec/poly all

check-exit: all # libgomp's threads and the end of the process: 300 runs that must all exit with 0
	for n in $$(seq 300); do OMP_NUM_THREADS=8 $(LUA_RUN) spec/host/parallel.lua || { echo "run $$n: status $$?"; exit 1; }; done

SANITIZE := -fno-omit-frame-pointer -fno-sanitize-recover=all
ASAN     := BUILD=build/check-asan CC=gcc CFLAGS='-O1 -g -fsanitize=address,undefined $(SANITIZE)'
# The run time's watch over thread-local storage takes a block that begins 16 bytes into a page for one of glibc before 2.25, and its
# search for leaks dies of the header that is not there (google/sanitizers issue 1322; mended in gcc 14).
IN_ASAN  := TESSERA_SLOW=10 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:intercept_tls_get_addr=0
COVER    := BUILD=build/coverage CC=gcc CFLAGS='-O1 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage
check-asan: all # leaks, too: those of what the module and the specs allocate, not those of programs that the specs start
	$(MAKE) $(ASAN) build/check-asan/bin
	$(MAKE) $(ASAN) \
	  RUN='env $(IN_ASAN) PATH="$$$$PWD/build/check-asan/bin:$$$$PATH" LD_PRELOAD="$$$$(gcc -print-file-name=libasan.so)"' test

build/check-asan/bin: # other people's programs, started without the sanitizer
	mkdir -p $@
	for name in gnuplot chromium mktemp make sed; do ! path=$$(command -v $$name) || \
	  { printf '#!/bin/sh\nunset LD_PRELOAD\nexec "%s" "$$@"\n' "$$path" > $@/$$name && chmod +x $@/$$name; }; done

# clang, whose OpenMP tells the sanitizer about its barriers through libarcher; lua5.4 itself cannot load clang's run time.
check-tsan:
	$(MAKE) BUILD=build/check-tsan CC=clang CFLAGS='-O1 -g -fsanitize=thread $(SANITIZE)' all build/check-tsan/host
	LUA_PATH_5_4='lua/?.lua;lua/?/init.lua;;' LUA_CPATH_5_4='build/check-tsan/?.so;;' OMP_NUM_THREADS=4 \
	  TSAN_OPTIONS='ignore_noninstrumented_modules=1 halt_on_error=1' build/check-tsan/host spec/host/parallel.lua 5

# What draws by chance: `make soak` goes on with it for an hour. check-calls tries bad calls, check-files mutated files, check-signals
# Ctrl-C at random moments, check-starve failing memory; check-sanitized runs the first two under the sanitizers.
check-calls: all programs
	spec/fuzz/run calls 200000

check-files: all programs
	spec/fuzz/run files 100000

check-signals: all programs
	spec/fuzz/run signals 200

check-starve: all programs
	spec/fuzz/run starve

check-sanitized:
	$(MAKE) --no-print-directory $(ASAN) all build/check-asan/host
	set -e; for what in 'calls 20000' 'files 10000'; do TESSERA_BUILD=build/check-asan $(IN_ASAN) spec/fuzz/run $$what; done

FUZZERS := program schedule
FUZZ    := BUILD=build/check-fuzz CC=clang WARN='$(WARN) -Wno-pass-failed' \
  CFLAGS='-O1 -g -fsanitize=address,undefined,fuzzer-no-link $(SANITIZE)'
build/check-fuzz/fuzz-%: spec/fuzz/%.c spec/fuzz/bytes.h build/check-fuzz/libtessera.a
	$(Q)clang $(BASE) $(WARN) -O1 -g -fsanitize=address,undefined,fuzzer $(SANITIZE) $< -o $@ build/check-fuzz/libtessera.a $(LIBS)

fuzzers:
	$(MAKE) --no-print-directory $(FUZZ) build/check-fuzz/libtessera.a
	$(MAKE) --no-print-directory $(FUZZERS:%=build/check-fuzz/fuzz-%)

check-fuzz: fuzzers # libFuzzer, for a number of runs that a machine does in a minute or two
	build/check-fuzz/fuzz-program -runs=50000 -seed=1 -max_len=2000 -len_control=20 -verbosity=0 -print_final_stats=1
	build/check-fuzz/fuzz-schedule -runs=1000000 -seed=1 -max_len=2000 -len_control=20 -verbosity=0 -print_final_stats=1

soak: all programs fuzzers ## what draws by chance, with new seeds, for an hour (SOAK=seconds)
	$(MAKE) --no-print-directory $(ASAN) all build/check-asan/host
	IN_ASAN='$(IN_ASAN)' spec/fuzz/soak $(or $(SOAK),3600)

coverage: check-coverage ## which lines of core the specs reach; at least 95 % must be
check-coverage: all
	$(MAKE) --no-print-directory $(COVER) all programs
	find build/coverage -name '*.gcda' -delete
	TESSERA_SLOW=4 $(MAKE) --no-print-directory $(COVER) test
	set -e; for isa in $$(scripts/isas | head -n -1); do TESSERA_ISA=$$isa $(MAKE) --no-print-directory $(COVER) test \
	  SPECS='spec/core_spec.lua spec/score_spec.lua'; done
	spec/fuzz/coverage build/coverage

check-valgrind: # at -O1, where every branch of the machine's is one of the source's
	$(MAKE) --no-print-directory BUILD=build/check-valgrind CFLAGS='-O1 -g' \
	  RUN='env OMP_NUM_THREADS=2 valgrind -q --error-exitcode=1 --leak-check=full --show-leak-kinds=definite \
	  --errors-for-leak-kinds=definite' run-parallel
	$(if $(HAS_RANKS),$(MAKE) --no-print-directory BUILD=build/check-valgrind CFLAGS='-O1 -g' \
	  RUN='$(RANKS) valgrind -q --error-exitcode=1 --suppressions=spec/mpi/valgrind.supp' SCRIPTS=chapter run-ranks)

check-mpi: all # the address sanitizer on two ranks; what Open MPI itself leaks is known by where it does so
	$(if $(HAS_RANKS),$(MAKE) --no-print-directory $(ASAN) RUN='$(RANKS) env LD_PRELOAD=$(shell gcc -print-file-name=libasan.so) \
	  $(IN_ASAN):fast_unwind_on_malloc=0:malloc_context_size=40 \
	  LSAN_OPTIONS=print_suppressions=0:suppressions=spec/mpi/leaks.supp' SCRIPTS='merging chapter' run-ranks, \
	  @echo 'MPI starts no processes here: nothing was checked')

run-ranks: mpi
	$(Q)set -e; for script in $(SCRIPTS); do $(LUA_RUN) spec/mpi/ranks/$$script.lua; done

run-parallel: all
	$(Q)$(LUA_RUN) spec/host/parallel.lua

demo: all ## a real model's attention layer, computed in many ways
	$(Q)$(LUA_RUN) examples/01-a-real-layer.lua

repl: all ## a prompt with `ts` loaded
	scripts/tessera

docs: all ## build the manual, as HTML, in build/docs
	$(Q)$(LUA_RUN) scripts/docs $(BUILD)/docs
	@echo "$(BUILD)/docs/index.html"

bench: all ## what part of this machine's peak each road reaches (ARGS="--against torch": beside PyTorch)
	$(Q)scripts/bench $(ARGS)

scale: all ## what large masks cost: the library's at 131,072 tokens, a window up to a million
	$(Q)scripts/scale

bounds: all ## how far rounding goes on 100,000 rows, beside the derived bounds (some minutes)
	scripts/bounds

mutate: all ## build with each of many faults: P:verify must catch every one
	scripts/mutate

install: all docs $(BUILT_MPI) ## into PREFIX (and DESTDIR); tessera.mpi, too, where it is built
	$(must_be_plain)$(INSTALL) -d $(call into,$(BINDIR)) $(call into,$(LIBDIR)/pkgconfig) $(call into,$(INCLUDEDIR)) \
	  $(call into,$(INSTALL_LMOD)/tessera) $(call into,$(INSTALL_CMOD)/tessera) $(call into,$(DOCDIR)/manual)
	for file in $$(cd lua && find tessera -name '*.lua'); do \
	  $(INSTALL) -D -m 644 lua/$$file $(call into,$(INSTALL_LMOD))/$$file || exit; done
	$(INSTALL) $(BUILD)/tessera/core.so $(BUILT_MPI) $(call into,$(INSTALL_CMOD)/tessera)
	$(INSTALL) -m 644 $(HEADERS) $(call into,$(INCLUDEDIR))
	$(INSTALL) -m 644 $(BUILD)/libtessera.a $(call into,$(LIBDIR))
	sed -e 's|^modules=.*|modules="$(RUN_LMOD)"|' -e 's|^core=.*|core="$(RUN_CMOD)"|' scripts/tessera \
	  > $(call into,$(BINDIR)/tessera) && chmod 755 $(call into,$(BINDIR)/tessera)
	$(INSTALL) -m 644 $(BUILD)/docs/*.html $(call into,$(DOCDIR)/manual)
	printf '%s\n' 'Name: tessera' 'Description: attention as an algebra of summaries, on the CPU' 'Version: $(VERSION)' \
	  'Cflags: -I$(call from_pc,$(INCLUDEDIR))' 'Libs: -L$(call from_pc,$(LIBDIR)) -ltessera -fopenmp $(LIBS)' > $(call into,$(LIBDIR)/pkgconfig/tessera.pc)

uninstall: ## what install put there
	$(must_be_plain)rm -rf $(call into,$(INSTALL_LMOD)/tessera) $(call into,$(INSTALL_CMOD)/tessera) $(call into,$(DOCDIR)/manual)
	rm -f $(call into,$(BINDIR)/tessera) $(call into,$(LIBDIR)/libtessera.a) $(call into,$(LIBDIR)/pkgconfig/tessera.pc) \
	  $(foreach header,$(notdir $(HEADERS)),$(call into,$(INCLUDEDIR)/$(header)))
	rmdir $(call into,$(INCLUDEDIR)) $(call into,$(DOCDIR)) 2>/dev/null || : # where others have files, too, they stay

deb: all $(BUILT_MPI) ## build a Debian package, in build/; tessera-mpi, too, where tessera.mpi is built
	$(Q)BUILD='$(BUILD)' scripts/deb $(VERSION)

clean: ## remove all that was built
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

-include $(CORE_O:.o=.d) $(BINDING_O:.o=.d) $(MPI_O:.o=.d) $(PROGRAMS:=.d)
