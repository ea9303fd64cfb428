# SPDX-License-Identifier: GPL-2.0-only
# The rules behind the Makefile. Which folder becomes what:
#
#   src/common/**     libcommon.a, in every daemon and tool
#   src/tracer        libltt.so.1, libltt.a; links libc only, hidden symbols
#   src/wrappers/*.c  one preloadable library each: libltt-NAME.so
#   src/sessiond/**   ltt-sessiond      src/consumerd/**  ltt-consumerd
#   src/relayd/*.c    ltt-relayd          src/keys/*.c      ltt-keys
#   src/tunnel/*.c    ltt-tunnel
#   src/libctl, src/view, src/ctl       lttctl
#   tests/unit/*.c    one program each; tests/unit/*.cc likewise (C++)
#   tests/prog/*.c    programs that the end-to-end tests trace
#   tests/bench/*.c   one program each  tests/fuzz/*.c    one fuzz target each
#   tests/unit/part/NAME.*.c  more files of the unit test NAME
#   tests/unit/lib/*.c        what unit tests share, linked where it is used
#   tests/unit/dso/*.{c,cc}   libraries that unit tests load, in $(O)/dso
#   tests/unit/{ring,tracepoint,marker,probe}_*  link libltt.a only: cross builds
#                     run these (make tracer-unit)

WARN   := -Wall -Wextra -Wshadow -Werror
OPT    ?= -O2 -g
BASEFLAGS := -D_GNU_SOURCE -DLTT_VERSION='"$(VERSION)"' -Iinclude -Iabi -Isrc -Isrc/common \
	$(WARN) $(OPT) -fno-strict-aliasing -ffunction-sections -fdata-sections -MMD -MP
SANFLAGS :=
ifeq ($(SAN),address)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else ifeq ($(SAN),thread)
SANFLAGS := -fsanitize=thread
else ifeq ($(SAN),fuzz)
CC := clang
SANFLAGS := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
else ifneq ($(SAN),)
$(error SAN=$(SAN) is none of address, thread, fuzz)
endif
ALLCFLAGS = -std=gnu11 $(BASEFLAGS) $(SANFLAGS) $(CFLAGS)
ALLCXXFLAGS = -std=gnu++17 $(BASEFLAGS) $(SANFLAGS) $(CXXFLAGS)
ALLLDFLAGS = $(SANFLAGS) -Wl,--gc-sections $(LDFLAGS)

# The tracer needs nothing; programs that use Debian's libraries ask pkg-config.
PKGS     := popt json-c uuid gnutls libelf libzstd
PKGFLAGS := $(shell $(PKGCONF) --cflags $(PKGS) 2>/dev/null)
PKGLIBS  := -Wl,--as-needed $(shell $(PKGCONF) --libs $(PKGS) 2>/dev/null)

# Daemons limit their system calls, but not where a sanitizer makes its own.
ifneq ($(SAN),)
PKGFLAGS += -DLTT_SANITIZED
else ifeq ($(shell $(PKGCONF) --exists libseccomp && echo yes),yes)
PKGFLAGS += -DHAVE_SECCOMP $(shell $(PKGCONF) --cflags libseccomp)
PKGLIBS  += $(shell $(PKGCONF) --libs libseccomp)
else ifeq ($(filter clean help format,$(MAKECMDGOALS)),)
$(info note: without libseccomp the daemons do not limit their system calls)
endif

# The session daemon loads the kernel module.
ifeq ($(shell $(PKGCONF) --exists libkmod && echo yes),yes)
PKGFLAGS += -DHAVE_KMOD $(shell $(PKGCONF) --cflags libkmod)
PKGLIBS  += $(shell $(PKGCONF) --libs libkmod)
endif

ifeq ($(V),)
Q := @
say = @printf '  %-6s %s\n' $(1) $(2)
else
Q :=
say =
endif

find_c = $(sort $(shell find $(1) -name '*.c' 2>/dev/null))
objs   = $(patsubst %.c,$(O)/obj/%.o,$(1))
pobjs  = $(patsubst %.c,$(O)/pic/%.o,$(1))

COMMON   := $(call find_c,src/common)
CODEC    := src/common/proto/codec.c
TRACER   := $(call find_c,src/tracer)
WRAPPERS := $(call find_c,src/wrappers)
SESSIOND := $(call find_c,src/sessiond)
CONSUMERD := $(call find_c,src/consumerd)
KEEPERD  := $(call find_c,src/keeperd)
RELAYD   := $(call find_c,src/relayd)
KEYS     := $(call find_c,src/keys)
TUNNEL   := $(call find_c,src/tunnel)
LIBCTL   := $(call find_c,src/libctl)
VIEW     := $(call find_c,src/view)
CTL      := $(call find_c,src/ctl)
UNIT     := $(sort $(wildcard tests/unit/*.c))
UNITCC   := $(sort $(wildcard tests/unit/*.cc))
PROG     := $(sort $(wildcard tests/prog/*.c tests/prog/*.cc))
BENCH    := $(sort $(wildcard tests/bench/*.c))
FUZZ     := $(sort $(wildcard tests/fuzz/*.c))

LIBCOMMON := $(O)/libcommon.a
LIBLTT    := $(O)/lib/libltt.so.1
LIBLTTA   := $(O)/lib/libltt.a
BIN       := $(O)/bin
PROGRAMS  := $(if $(SESSIOND),$(BIN)/ltt-sessiond) $(if $(CONSUMERD),$(BIN)/ltt-consumerd) \
	$(BIN)/ltt-keeperd $(BIN)/ltt-relayd $(BIN)/ltt-keys $(BIN)/ltt-tunnel \
	$(if $(CTL),$(BIN)/lttctl)
WRAPLIBS  := $(patsubst src/wrappers/%.c,$(O)/lib/libltt-%.so,$(WRAPPERS))
UNITBIN   := $(patsubst tests/unit/%.c,$(O)/unit/%,$(UNIT)) \
	$(patsubst tests/unit/%.cc,$(O)/unit/%,$(UNITCC))
PROGBIN   := $(patsubst tests/prog/%.c,$(O)/prog/%,$(filter %.c,$(PROG))) \
	$(patsubst tests/prog/%.cc,$(O)/prog/%,$(filter %.cc,$(PROG)))
BENCHBIN  := $(patsubst tests/bench/%.c,$(O)/bench/%,$(BENCH))
TRACERUNIT := $(sort $(wildcard $(patsubst %,tests/unit/%_*.c,ring tracepoint marker probe)))
TRACERBIN := $(patsubst tests/unit/%.c,$(O)/tracer-unit/%,$(TRACERUNIT))
DSO       := $(sort $(wildcard tests/unit/dso/*.c tests/unit/dso/*.cc))
DSOLIBS   := $(patsubst tests/unit/dso/%,$(O)/dso/%.so,$(basename $(DSO)))
UNITSHARED := $(sort $(wildcard tests/unit/lib/*.c)) $(addprefix src/ctl/,sdt.c elf_place.c program.c)
PARTS     := $(sort $(wildcard tests/unit/part/*.c))
FUZZBIN   := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(FUZZ))

.DEFAULT_GOAL := all
.PHONY: all tools doc lib tracer tests unit prog tracer-unit bench-programs fuzz-targets clean install \
	bench soak kill-matrix relay-matrix fuzz asan tsan check format doc help kmod kmod-flavours kmod-bench
.DELETE_ON_ERROR:
.SECONDARY:

all: lib $(PROGRAMS) ## everything that is installed
lib: tracer $(WRAPLIBS)
tracer: $(LIBLTT) $(LIBLTTA) ## libltt alone (cross builds)
unit: $(UNITBIN) $(DSOLIBS)
prog: $(PROGBIN)
tests: all unit prog fuzz-targets tools ## everything that the tests need
tracer-unit: $(TRACERBIN) $(DSOLIBS)
bench-programs: $(BENCHBIN) lib

$(O)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLCFLAGS) $(PKGFLAGS) -c -o $@ $<

$(O)/obj/%.o: %.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(ALLCXXFLAGS) -c -o $@ $<

# Guest code: position independent, nothing exported but what says so.
$(O)/pic/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLCFLAGS) -fPIC -fvisibility=hidden -ftls-model=initial-exec \
		-fno-exceptions -c -o $@ $<

$(O)/pic/%.o: %.cc
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(ALLCXXFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(LIBCOMMON): $(call objs,$(COMMON))
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $^

# nodelete: a restartable sequence must never be unmapped.
$(LIBLTT): $(call pobjs,$(TRACER) $(CODEC)) src/tracer/libltt.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLLDFLAGS) -shared -Wl,-soname,libltt.so.1 -Wl,-z,nodelete \
		-Wl,--version-script=src/tracer/libltt.map $(if $(SAN),,-Wl,-z,defs) -o $@ $(filter %.o,$^)
	$(Q)ln -sf libltt.so.1 $(@D)/libltt.so

$(LIBLTTA): $(call pobjs,$(TRACER) $(CODEC))
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@; $(AR) rcs $@ $^

$(O)/lib/libltt-%.so: $(O)/pic/src/wrappers/%.o $(LIBLTT)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLLDFLAGS) -shared -o $@ $< -L$(O)/lib -lltt -Wl,-rpath,'$$ORIGIN' -ldl

$(BIN)/ltt-sessiond: $(call objs,$(SESSIOND)) $(LIBCOMMON)
$(BIN)/ltt-consumerd: $(call objs,$(CONSUMERD)) $(LIBCOMMON)
$(BIN)/ltt-keeperd: $(call objs,$(KEEPERD)) $(LIBCOMMON)
$(BIN)/ltt-relayd: $(call objs,$(RELAYD)) $(LIBCOMMON)
$(BIN)/ltt-keys: $(call objs,$(KEYS)) $(LIBCOMMON)
$(BIN)/ltt-tunnel: $(call objs,$(TUNNEL)) $(LIBCOMMON)
$(BIN)/lttctl: $(call objs,$(CTL) $(LIBCTL) $(VIEW)) $(LIBCOMMON)
$(PROGRAMS):
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $^ $(PKGLIBS) -lpthread

# A unit test may use any module: the daemons' objects but their main().
DAEMONOBJS = $(filter-out %/main.o,$(call objs,$(SESSIOND) $(CONSUMERD) $(KEEPERD) $(RELAYD) $(KEYS) $(LIBCTL) $(VIEW)))
UNITLIB := $(O)/libunit.a
$(UNITLIB): $(call objs,$(COMMON) $(UNITSHARED)) $(filter-out %/main.o,$(call objs,$(SESSIOND) $(CONSUMERD) $(KEEPERD) $(RELAYD) $(KEYS) $(LIBCTL) $(VIEW)))
	$(Q)rm -f $@; $(AR) rcs $@ $^
$(O)/unit/%: $(O)/obj/tests/unit/%.o $(UNITLIB) $(LIBLTTA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard tests/unit/$*.cc),$(CXX),$(CC)) $(ALLLDFLAGS) -o $@ $^ $(PKGLIBS) -lpthread -ldl

$(O)/tracer-unit/%: $(O)/obj/tests/unit/%.o $(LIBLTTA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $^ -lpthread -ldl

# A part joins the test that its name begins with.
part_of = $(foreach kind,unit tracer-unit,$(O)/$(kind)/$(firstword $(subst ., ,$(notdir $1))))
$(foreach p,$(PARTS),$(eval $(call part_of,$p): $(call objs,$p)))

# What a test loads finds libltt in the test.
$(O)/unit/tracepoint_dlopen $(O)/tracer-unit/tracepoint_dlopen: ALLLDFLAGS += -rdynamic
$(O)/dso/%.so: $(O)/pic/tests/unit/dso/%.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard tests/unit/dso/$*.cc),$(CXX),$(CC)) $(ALLLDFLAGS) -shared -o $@ $<

$(O)/prog/%: $(O)/obj/tests/prog/%.o $(LIBLTT)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard tests/prog/$*.cc),$(CXX),$(CC)) $(ALLLDFLAGS) -o $@ $< -L$(O)/lib \
		-Wl,--as-needed -lltt \
		-Wl,-rpath,'$$ORIGIN/../lib' -lpthread -ldl

# Where a loop of five instructions lies must not decide a figure.
$(O)/obj/tests/bench/%.o: CFLAGS += -falign-loops=64
$(O)/bench/%: $(O)/obj/tests/bench/%.o $(LIBLTT)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $< -L$(O)/lib -lltt -Wl,-rpath,'$$ORIGIN/../lib' \
		$(BENCHLIBS_$*) -lpthread -ldl

# Without SAN=fuzz a target gets a main() that replays its corpus.
FUZZMAIN := $(if $(filter fuzz,$(SAN)),,$(O)/obj/tests/lib/fuzzmain.o)
$(O)/fuzz/%: $(O)/obj/tests/fuzz/%.o $(FUZZMAIN) $(UNITLIB) $(LIBLTTA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLLDFLAGS) $(if $(FUZZMAIN),,-fsanitize=fuzzer) -o $@ $^ $(PKGLIBS) -lpthread -ldl

# What is made from the message tables: manual, seeds (not installed).
$(O)/tool/%: $(O)/obj/src/tools/%.o $(LIBCOMMON)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLLDFLAGS) -o $@ $^
tools: $(O)/tool/prototool
doc: tools all ## regenerate doc/protocol.md from the message tables, and doc/missing.md from lttctl
	$(O)/tool/prototool manual > doc/protocol.md
	scripts/missing-manual $(O) > doc/missing.md

fuzz-targets: $(FUZZBIN)

check: tests ## every test that needs no other build
	scripts/runtests --build $(O) --kind unit,e2e,fuzz,check
soak: tests ## repeat the tests of doc/reliability.md for SOAK_SECONDS (default 600)
	scripts/soak $(O) $(SOAK_SECONDS)
kill-matrix: tests ## KILLS kills (default 100) of each process in each cell, and what they come to
	scripts/kill-matrix $(O) $(KILLS)
relay-matrix: tests ## RUNS (default 50) kills and outages of 10 s while 50,000 events/s go to a relay
	scripts/relay-matrix $(O) $(RUNS)
bench: all prog bench-programs ## figures beside LTTng-UST and physical limits
	tests/bench/run $(O)
	tests/bench/relay $(O)
asan: ## the test suite under AddressSanitizer and UBSan
	$(MAKE) O=$(O)-asan SAN=address tests
	scripts/runtests --build $(O)-asan --san
tsan: ## the unit tests under ThreadSanitizer
	$(MAKE) O=$(O)-tsan SAN=thread tests
	scripts/runtests --build $(O)-tsan --san --kind unit
fuzz: ## run each fuzz target for FUZZ_SECONDS (default 60)
	$(MAKE) O=$(O)-fuzz SAN=fuzz fuzz-targets
	scripts/fuzz $(O)-fuzz $(FUZZ_SECONDS)

# The kernel's own build does the work; KDIR: its headers.
KDIR ?= /lib/modules/$(shell uname -r)/build
kmod: ## the kernel module, for the kernel whose headers are in KDIR
	kmod/scripts/build $(KDIR) $(O)/kmod $(PROBES)

kmod-flavours: ## ltt.ko for Debian's kernels for real time and for clouds, and by DKMS
	tests/vm/flavours $(O)/kmod-flavours
	tests/vm/dkms 6.1

kmod-bench: ## what the kernel's events cost beside ftrace and LTTng's modules, in instructions
	for series in 6.1 6.12; do \
		LTT_TESTS=exact tests/vm/suite $$series $(O)/vm-$$series >&2 && \
		tests/vm/measure $$series $(O)/vm-$$series || exit 1; \
	done

install: all ## to $(DESTDIR)$(PREFIX)
	scripts/install $(O) "$(DESTDIR)" "$(PREFIX)"
clean:
	rm -rf $(O) $(O)-asan $(O)-tsan $(O)-fuzz
format: ## clang-format over all C sources
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cc')
help: ## this list
	@grep -hE '^[a-z-]+:.*##' scripts/build.mk | sed 's/:.*##/\t/'

-include $(shell find $(O) -name '*.d' 2>/dev/null)
