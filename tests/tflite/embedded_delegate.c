/* SPDX-License-Identifier: MIT */
/*
 * An external delegate of TensorFlow Lite for programs that give a delegate no options: the library
 * that NVDLA_TFLITE names, with the device model in the process.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*report_error)(const char *);

static void *find(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen(getenv("NVDLA_TFLITE"), RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	return dlsym(library, name);
}

void *tflite_plugin_create_delegate(char **keys, char **values, size_t count, report_error report)
{
	void *(*create)(char **, char **, size_t, report_error) =
		find("tflite_plugin_create_delegate");
	char *key = "device", *value = "embedded";

	(void)keys;
	(void)values;
	(void)count;
	return create(&key, &value, 1, report);
}

void tflite_plugin_destroy_delegate(void *delegate)
{
	void (*destroy)(void *) = find("tflite_plugin_destroy_delegate");

	destroy(delegate);
}
