# Tessera: builds build/tessera/core.so and build/libtessera.a from core/ and lua/binding/. `make help` lists the targets.

VERSION := 0.1.0
BUILD   ?= build
LUA     ?= lua5.4
BUSTED  ?= /usr/bin/busted
ifeq ($(origin CC),default)
CC      := gcc
endif
CFLAGS  ?= -O3 -g
WARN    ?= -Wall -Wextra -Wpedantic

# Where `make install` puts things. The last two carry the names of Lua's own Makefile; LuaRocks sets them.
PREFIX       ?= /usr/local
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include/tessera
INSTALL_LMOD ?= $(PREFIX)/share/lua/5.4
INSTALL_CMOD ?= $(PREFIX)/lib/lua/5.4
INSTALL      ?= install
PLACES       := $(BINDIR) $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(INSTALL_LMOD)/tessera $(INSTALL_CMOD)/tessera

# With `make setup test` on a bare machine, everything waits for setup: also with -j, and nothing that setup installs is
# asked for while this file is read (LUA_CFLAGS is expanded by the recipes that use it).
SETUP      := $(filter setup,$(MAKECMDGOALS))
LUA_CFLAGS  = $(if $(LUA_INCDIR),-I$(LUA_INCDIR),$(shell pkg-config --cflags lua5.4 2>/dev/null || pkg-config --cflags lua))

# Contracting a*b + c into one rounding would make the merge of two summaries depend on their order; -ffast-math would
# switch off denormals for the whole process.
BASE   := -std=gnu11 -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fopenmp -MMD -MP
LIBS   := -lsleef -lmpfr -lgmp -lm
# libgomp's workers outlive dlclose, so the module must never be unmapped.
SHARED := -shared -Wl,-z,nodelete -Wl,--as-needed

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
PROGRAMS   := $(patsubst spec/core/%.c,$(BUILD)/spec/%,$(wildcard spec/core/*.c))
PATHS       = LUA_PATH_5_4='lua/?.lua;lua/?/init.lua;;' LUA_CPATH_5_4='$(BUILD)/?.so;;' TESSERA_BUILD='$(BUILD)'

.PHONY: all setup test demo repl bench install uninstall clean help
.DELETE_ON_ERROR:

all: $(BUILD)/tessera/core.so ## build the module and the C library (the default)

$(BUILD)/libtessera.a: $(CORE_O) | $(SETUP)
	@mkdir -p $(@D) && rm -f $@
	ar rcs $@ $^

$(BUILD)/tessera/core.so: $(BINDING_O) $(BUILD)/libtessera.a | $(SETUP)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SHARED) -o $@ $^ -fopenmp $(LIBS) $(LDFLAGS)

$(BUILD)/obj/core/%.o: core/%.c | $(SETUP)
	@mkdir -p $(@D)
	$(CC) $(BASE) $(WARN) $(CFLAGS) $(FLAGS_$(basename $(@F))) -c $< -o $@

$(BUILD)/obj/lua/%.o: lua/%.c | $(SETUP)
	@mkdir -p $(@D)
	$(CC) $(BASE) $(WARN) $(CFLAGS) $(LUA_CFLAGS) -c $< -o $@

$(BUILD)/spec/%: spec/core/%.c $(BUILD)/libtessera.a | $(SETUP)
	@mkdir -p $(@D)
	$(CC) $(BASE) $(WARN) $(CFLAGS) -Icore -Ispec/core $< -o $@ $(BUILD)/libtessera.a $(LIBS) $(LDFLAGS)

setup: ## install the packages that are missing
	scripts/setup

test: all $(PROGRAMS) ## run the specs; ends with "N passed, N failed"
	$(PATHS) $(LUA) $(BUSTED) --ignore-lua --output=spec/tally.lua $(SPECS)

demo: all ## a real model's attention layer, computed in many ways
	$(PATHS) $(LUA) examples/01-a-real-layer.lua

repl: all ## a prompt with `ts` loaded
	scripts/tessera

bench: all ## measure this machine's peak, and what part of it each road reaches
	scripts/bench

install: all ## into PREFIX (and DESTDIR)
	$(INSTALL) -d $(PLACES:%=$(DESTDIR)%)
	$(INSTALL) -m 644 $(wildcard lua/tessera/*.lua) $(DESTDIR)$(INSTALL_LMOD)/tessera
	$(INSTALL) $(BUILD)/tessera/core.so $(DESTDIR)$(INSTALL_CMOD)/tessera
	$(INSTALL) -m 644 $(wildcard core/*.h) $(DESTDIR)$(INCLUDEDIR)
	$(INSTALL) -m 644 $(BUILD)/libtessera.a $(DESTDIR)$(LIBDIR)
	sed -e 's|^modules=.*|modules="$(INSTALL_LMOD)"|' -e 's|^core=.*|core="$(INSTALL_CMOD)"|' scripts/tessera \
	  > $(DESTDIR)$(BINDIR)/tessera && chmod 755 $(DESTDIR)$(BINDIR)/tessera
	printf '%s\n' 'Name: tessera' 'Description: attention as an algebra of summaries, on the CPU' 'Version: $(VERSION)' \
	  'Cflags: -I$(INCLUDEDIR)' 'Libs: -L$(LIBDIR) -ltessera -fopenmp $(LIBS)' > $(DESTDIR)$(LIBDIR)/pkgconfig/tessera.pc

uninstall: ## what install put there
	rm -rf $(DESTDIR)$(INSTALL_LMOD)/tessera $(DESTDIR)$(INSTALL_CMOD)/tessera $(DESTDIR)$(INCLUDEDIR)
	rm -f $(DESTDIR)$(BINDIR)/tessera $(DESTDIR)$(LIBDIR)/libtessera.a $(DESTDIR)$(LIBDIR)/pkgconfig/tessera.pc

clean: ## remove all that was built
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

-include $(CORE_O:.o=.d) $(BINDING_O:.o=.d) $(PROGRAMS:=.d)
