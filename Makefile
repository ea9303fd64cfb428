# SPDX-License-Identifier: GPL-2.0-only
#
# ltt-control: one Makefile, no recursion. `make help` lists the targets.
#
#   make [O=DIR] [CC=clang] [SAN=address|thread|fuzz] [V=1]
#
# A source file is built because of the folder it is in; nothing is listed by
# name here but the programs and libraries themselves.

O      ?= build
# make presets CC and CXX, which `?=` would take for somebody's wish
ifeq ($(origin CC),default)
CC     := gcc
endif
ifeq ($(origin CXX),default)
CXX    := $(if $(findstring clang,$(CC)),clang++,$(CC:%gcc=%g++))
endif
AR     ?= ar
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0
PKGCONF ?= pkg-config

include scripts/build.mk
