// SPDX-License-Identifier: MIT
/*
 * Buffers until the driver has no memory for another one.
 *   fill NODE BYTES
 * Succeeds if the last one is refused with ENOMEM, at most BYTES were allocated, and no two buffers
 * share memory. The buffers are freed when the program ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <drm/nvdla_accel.h>

#define BUFFER_BYTES (1U << 20)
#define WORDS (BUFFER_BYTES / sizeof(uint32_t))
#define MOST 4096

/* Returns the mapping of a new buffer, NULL with errno if there is none. */
static uint32_t *create(int device)
{
	struct drm_nvdla_bo_create buffer = { .size = BUFFER_BYTES };
	struct drm_nvdla_bo_mmap_offset place = { 0 };
	void *words;

	if (ioctl(device, DRM_IOCTL_NVDLA_BO_CREATE, &buffer))
		return NULL;
	place.handle = buffer.handle;
	if (ioctl(device, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &place))
		return NULL;
	words = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, device,
		     (off_t)place.offset);
	return words == MAP_FAILED ? NULL : words;
}

int main(int argc, char **argv)
{
	static uint32_t *buffers[MOST];
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 0) / BUFFER_BYTES : 0;
	int device = open(argc > 1 ? argv[1] : "", O_RDWR);
	uint32_t count, i, word;

	if (device < 0) {
		perror("open");
		return 1;
	}
	for (count = 0; count < MOST; count++) {
		buffers[count] = create(device);
		if (!buffers[count])
			break;
		for (word = 0; word < WORDS; word++)
			buffers[count][word] = count;
	}
	if (count == MOST || errno != ENOMEM) {
		perror("last buffer");
		return 1;
	}
	printf("%u buffers of %u bytes\n", count, BUFFER_BYTES);
	if (!count || count > most) {
		fprintf(stderr, "the memory has room for %llu\n", (unsigned long long)most);
		return 1;
	}
	for (i = 0; i < count; i++)
		for (word = 0; word < WORDS; word++)
			if (buffers[i][word] != i) {
				fprintf(stderr, "word %u of buffer %u is %u\n", word, i, buffers[i][word]);
				return 1;
			}
	return 0;
}
