# A first Makefile: builds build/libtessera.a and build/tessera/core.so from whatever stands in core/ and lua/binding/.
CC      ?= gcc
CFLAGS  ?= -O3 -g
WARN    := -Wall -Wextra -Wpedantic
BASE    := -std=gnu11 -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fopenmp -MMD -MP $(WARN)
LUAINC  ?= /usr/include/lua5.4
OBJ     := $(patsubst %.c,build/obj/%.o,$(wildcard core/*.c core/kernel/*.c))
BIND    := $(patsubst %.c,build/obj/%.o,$(wildcard lua/binding/*.c))
ISA_sse2   := -msse2
ISA_avx2   := -mavx2 -mfma
ISA_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma -mprefer-vector-width=512

all: build/tessera/core.so
build/libtessera.a: $(OBJ)
	rm -f $@ && ar rcs $@ $^
build/tessera/core.so: $(BIND) build/libtessera.a
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-z,nodelete -o $@ $^ -fopenmp -lsleef -lmpfr -lgmp -lm
build/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) $(ISA_$(basename $(notdir $<))) -I$(LUAINC) -c $< -o $@
clean:
	rm -rf build
.PHONY: all clean
-include $(OBJ:.o=.d) $(BIND:.o=.d)
