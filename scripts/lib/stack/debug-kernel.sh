#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds the debug kernel from Debian's source package; runs inside of the unpacked build tree. /mnt
# has debug.config, and gets what is to be kept: vmlinuz, config, the modules with their folders
# below lib/modules/RELEASE/kernel, headers for the driver, and checkpatch, which the packaged
# headers lack.
set -eu

# Builds from the same files are equal: they do not contain who built, when and where.
export KBUILD_BUILD_TIMESTAMP=1970-01-01 KBUILD_BUILD_USER=nvdla KBUILD_BUILD_HOST=nvdla

# Leave out what the build never reads: two thirds of the source. Kconfig and make files stay,
# because those of other folders include them.
echo 'unpacking the source'
mkdir /src /out
tar -xJf /usr/src/linux-source-*.tar.xz -C /src --strip-components=1 --wildcards \
	--exclude='*/Documentation/*/*' --exclude='*/tools/testing/*' --exclude='*/tools/perf/*' \
	--exclude='*/arch/*/boot/dts/*' --exclude='*/rust/*.rs' --exclude='*/sound/*.[ch]' \
	--exclude='*/drivers/infiniband/*.[ch]' --exclude='*/drivers/media/*.[ch]' \
	--exclude='*/drivers/scsi/*.[ch]' --exclude='*/drivers/staging/*.[ch]' \
	--exclude='*/drivers/usb/*.[ch]' \
	--exclude='*/drivers/gpu/drm/amd/*.[ch]' --exclude='*/drivers/gpu/drm/i915/*.[ch]' \
	--exclude='*/drivers/gpu/drm/msm/*.[ch]' --exclude='*/drivers/gpu/drm/nouveau/*.[ch]' \
	--exclude='*/drivers/gpu/drm/radeon/*.[ch]' --exclude='*/drivers/gpu/drm/xe/*.[ch]'

kbuild() {
	make -s -C /src O=/out "$@"
}

kbuild KCONFIG_ALLCONFIG=/mnt/debug.config allnoconfig
# Kconfig silently drops options that it does not know, and options with missing dependencies.
lost=$(sed -n -e '/^# Not in every kernel/q' -e '/^CONFIG_/p' /mnt/debug.config | while read -r line; do
	case $line in
	*=n) ! grep -q "^${line%n}" /out/.config || echo "$line" ;;
	*) grep -qxF "$line" /out/.config || echo "$line" ;;
	esac
done | tr '\n' ' ')
if [ -n "$lost" ]; then
	echo "error: Kconfig does not take $lost"
	exit 1
fi

echo 'compiling'
make -C /src O=/out -j"$(nproc)" bzImage modules
echo 'keeping what is needed'
release=$(cat /out/include/config/kernel.release)
cp /out/arch/x86/boot/bzImage /mnt/vmlinuz
cp /out/.config /mnt/config
mkdir -p "/mnt/lib/modules/$release/kernel"
cd /out
find . -name '*.ko' | while read -r module; do
	mkdir -p "/mnt/lib/modules/$release/kernel/${module%/*}"
	cp "$module" "/mnt/lib/modules/$release/kernel/$module"
done
# shellcheck disable=SC2016 # make expands it
kbuild run-command KBUILD_RUN_COMMAND='$(srctree)/scripts/package/install-extmod-build /mnt/headers'
mkdir /mnt/tools
cp /src/scripts/checkpatch.pl /src/scripts/spelling.txt /src/scripts/const_structs.checkpatch /mnt/tools
