#!/bin/sh
# Builds a static runc from its Go module, for an architecture: runc.sh ARCH FILE DIR
# runc needs a C compiler, for what it does before Go starts, and libseccomp, for the filter
# of system calls. Debian's runc is linked dynamically, so it would run on few systems.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
arch=$1 file=$2 dir=$3
case $arch in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
mkdir -p "$dir"
sh "$here/apt.sh" "$arch" "$dir" libseccomp-dev >"$dir/$arch.packages"
root=$dir/$arch/root/usr
cd "$here/.."
# Linked by path, and not with -L: the C library is that of the compiler.
mkdir -p "$dir/$arch/lib" && cp "$root/lib/$machine-linux-gnu/libseccomp.a" "$dir/$arch/lib/"
mkdir -p "$dir/$arch/include" && cp "$root/include/"seccomp*.h "$dir/$arch/include/"
# The directories are given by the environment: Go keeps what it has compiled by that, and not by
# what pkg-config prints, so that the directories of an earlier release would be linked.
printf 'Name: libseccomp\nDescription: seccomp\nVersion: %s\nLibs: -lseccomp\n' \
	"$(awk '$1 == "libseccomp-dev" { sub("-.*", "", $2); print $2 }' "$dir/$arch.packages")" >"$dir/$arch/libseccomp.pc"
PKG_CONFIG_LIBDIR=$dir/$arch CC=$machine-linux-gnu-gcc CGO_ENABLED=1 GOOS=linux GOARCH=$arch GOFLAGS=-mod=readonly \
	CGO_CFLAGS="-O2 -I$dir/$arch/include" CGO_LDFLAGS="-L$dir/$arch/lib" \
	go build -trimpath -buildvcs=false -tags 'seccomp netgo osusergo' \
	-ldflags '-s -w -buildid= -linkmode external -extldflags "-static -Wl,--build-id=none"' -o "$file" github.com/opencontainers/runc
