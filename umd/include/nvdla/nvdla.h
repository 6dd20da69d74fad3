/* SPDX-License-Identifier: MIT */
/*
 * The runtime for C and for bindings of other languages.
 *
 * Objects are opaque; who creates one frees it. What a C++ class promises in its
 * header (device.h, network.h, request.h) holds for the function here that has its
 * name, also about threads.
 */
#ifndef NVDLA_NVDLA_H
#define NVDLA_NVDLA_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

struct nvdla_device;
struct nvdla_buffer;
struct nvdla_network;
struct nvdla_request;

/** What became of a call; the values after the first are those of nvdla::ErrorCode */
enum nvdla_status {
	NVDLA_STATUS_OK = 0,
	NVDLA_STATUS_INVALID_ARGUMENT, /**< something that cannot be right */
	NVDLA_STATUS_INVALID_FILE,     /**< a damaged loadable */
	NVDLA_STATUS_UNSUPPORTED,      /**< correct, but not something this device does */
	NVDLA_STATUS_NOT_FOUND,	       /**< no such file */
	NVDLA_STATUS_NO_DEVICE,	       /**< no such device */
	NVDLA_STATUS_IO,	       /**< the operating system refused */
	NVDLA_STATUS_NO_MEMORY,	       /**< on the host or for the device */
	NVDLA_STATUS_DEVICE_REFUSED,   /**< the driver refused the network */
	NVDLA_STATUS_DEVICE_FAILED,    /**< hang or fault; it goes on */
	NVDLA_STATUS_TIMEOUT,	       /**< it took longer than allowed */
	NVDLA_STATUS_BUSY,	       /**< in flight, or the queue is full */
	NVDLA_STATUS_CANCELLED,	       /**< by nvdla_request_cancel() or the end of the network */
	NVDLA_STATUS_DEVICE_LOST,      /**< it was removed, or its driver unbound */
};

/** Return: what failed in this thread last, where and why; never NULL, valid until the next call */
const char *nvdla_last_error(void);

/** Return: a short name such as "invalid-file" */
const char *nvdla_status_name(enum nvdla_status status);

/** path: "/dev/accel/accelN", or "embedded" for a device model in this process,
 * also with an option: "embedded:fp16=fast"
 */
enum nvdla_status nvdla_device_open(const char *path, struct nvdla_device **device);
/** Networks keep the device open. NULL is fine here and in the other functions that free. */
void nvdla_device_free(struct nvdla_device *device);

/** path: of a device that the kernel drives, valid during the call */
typedef void (*nvdla_found)(const char *path, void *context);
/** Calls found for each device that the kernel drives, in the order of their paths */
enum nvdla_status nvdla_enumerate(nvdla_found found, void *context);

/** What a device is; size is the caller's sizeof, and no more than that is written */
struct nvdla_device_info {
	size_t size;
	const char *path; /**< owned by the device */
	uint32_t hw_version;
	uint32_t atom_bytes;	   /**< alignment of feature data */
	uint32_t max_timeout_ms;   /**< longest time that a job of the caller may take */
	uint32_t priorities;	   /**< bit n: the caller may use priority n - 1 */
	uint32_t has_statistics;   /**< not 0: the core counts */
	uint32_t has_dma_buf;	   /**< not 0: buffers can be exported and imported */
	uint64_t max_buffer_bytes; /**< of the largest buffer */
	uint64_t on_chip_bytes;	   /**< 0 without on-chip memory */
	uint64_t core_clock_hz;	   /**< now; 0 if that is not known */
};

enum nvdla_status nvdla_device_get_info(const struct nvdla_device *device,
					struct nvdla_device_info *info);

/** How a network resides on a device; size is the caller's sizeof, other zeroes are defaults */
struct nvdla_load_options {
	size_t size;
	uint32_t slots;	     /**< runs that are on their way at once, at most */
	uint32_t max_queued; /**< requests that wait for their turn, at most */
};

/** As nvdla_network_load(). options: may be NULL */
enum nvdla_status nvdla_network_load_with(struct nvdla_device *device, const void *data,
					  size_t size, const struct nvdla_load_options *options,
					  struct nvdla_network **network);
enum nvdla_status nvdla_network_load_file(struct nvdla_device *device, const char *path,
					  struct nvdla_network **network);
/** data: a whole loadable, not needed afterwards */
enum nvdla_status nvdla_network_load(struct nvdla_device *device, const void *data, size_t size,
				     struct nvdla_network **network);
/** Cancels what is in flight and waits for the callbacks, except in a callback */
void nvdla_network_free(struct nvdla_network *network);

/** Type of an element */
enum nvdla_data_type {
	NVDLA_DATA_UNKNOWN = 0,
	NVDLA_DATA_FLOAT = 1,
	NVDLA_DATA_HALF = 2,
	NVDLA_DATA_INT16 = 3,
	NVDLA_DATA_INT8 = 4,
};

/** Shape and layout of a tensor */
struct nvdla_tensor_info {
	const char *name; /**< owned by the network */
	enum nvdla_data_type type;
	uint32_t n;
	uint32_t c;
	uint32_t h;
	uint32_t w;
	uint32_t pixel_format;	  /**< nvdla::PixelFormat */
	uint32_t line_stride;	  /**< bytes */
	uint32_t surface_stride;  /**< bytes */
	size_t element_bytes;	  /**< of all elements, n * c * h * w of them */
	size_t tensor_bytes;	  /**< in its layout on the device, gaps included */
	size_t num_elements;	  /**< n * c * h * w */
	uint32_t is_unsigned;	  /**< not 0: integers from 0 on, as a convolution takes pixels */
	size_t num_quantizations; /**< 0: elements are the numbers; 1: of all; c: of each channel */
};

/** What integers stand for: real = scale * (element - zero_point) */
struct nvdla_quantization {
	double scale;
	int32_t zero_point;
};

size_t nvdla_network_num_inputs(const struct nvdla_network *network);
size_t nvdla_network_num_outputs(const struct nvdla_network *network);
enum nvdla_status nvdla_network_input_info(const struct nvdla_network *network, size_t index,
					   struct nvdla_tensor_info *info);
enum nvdla_status nvdla_network_output_info(const struct nvdla_network *network, size_t index,
					    struct nvdla_tensor_info *info);

/**
 * Say what the elements of an input or output stand for; nvdla_request_set_input_float() and
 * nvdla_request_get_output_float() heed it
 *
 * count: of values; 0 for elements that are the numbers, 1, or one for each channel
 */
enum nvdla_status nvdla_network_set_input_quantization(struct nvdla_network *network, size_t index,
						       const struct nvdla_quantization *values,
						       size_t count);
enum nvdla_status nvdla_network_set_output_quantization(struct nvdla_network *network, size_t index,
							const struct nvdla_quantization *values,
							size_t count);
/** count: nvdla_tensor_info.num_quantizations */
enum nvdla_status nvdla_network_get_input_quantization(const struct nvdla_network *network,
						       size_t index,
						       struct nvdla_quantization *values,
						       size_t count);
enum nvdla_status nvdla_network_get_output_quantization(const struct nvdla_network *network,
							size_t index,
							struct nvdla_quantization *values,
							size_t count);

/** Runs of a network; one thread at a time, except nvdla_request_cancel() */
enum nvdla_status nvdla_request_create(struct nvdla_network *network,
				       struct nvdla_request **request);
/**
 * In flight it is cancelled first; the callback still comes, with a NULL request. Waits for a
 * callback that runs, unless that is the caller
 */
void nvdla_request_free(struct nvdla_request *request);

/** elements: N, C, H, W order, nvdla_tensor_info.element_bytes of them */
enum nvdla_status nvdla_request_set_input(struct nvdla_request *request, size_t index,
					  const void *elements, size_t bytes);
/** values: N, C, H, W order, nvdla_tensor_info.num_elements of them, to be quantized */
enum nvdla_status nvdla_request_set_input_float(struct nvdla_request *request, size_t index,
						const float *values, size_t count);
/** tensor: in its layout, nvdla_tensor_info.tensor_bytes of it */
enum nvdla_status nvdla_request_set_input_tensor(struct nvdla_request *request, size_t index,
						 const void *tensor, size_t bytes);
enum nvdla_status nvdla_request_get_output(const struct nvdla_request *request, size_t index,
					   void *elements, size_t bytes);
/** values: room for nvdla_tensor_info.num_elements, dequantized */
enum nvdla_status nvdla_request_get_output_float(const struct nvdla_request *request, size_t index,
						 float *values, size_t count);
enum nvdla_status nvdla_request_get_output_tensor(const struct nvdla_request *request, size_t index,
						  void *tensor, size_t bytes);

/** Memory that the device reaches, zeroed; size: bytes */
enum nvdla_status nvdla_buffer_create(struct nvdla_device *device, size_t size,
				      struct nvdla_buffer **buffer);
/** fd: of a dma-buf, stays the caller's */
enum nvdla_status nvdla_buffer_import(struct nvdla_device *device, int fd,
				      struct nvdla_buffer **buffer);
/** Requests that it is bound to, and dma-bufs made of it, keep the memory */
void nvdla_buffer_free(struct nvdla_buffer *buffer);
size_t nvdla_buffer_size(const struct nvdla_buffer *buffer);
/** fd: of a dma-buf, to be closed by the caller */
enum nvdla_status nvdla_buffer_export(const struct nvdla_buffer *buffer, int *fd);
/** Wait until no job uses it, then read and write its bytes until nvdla_buffer_end_access() */
enum nvdla_status nvdla_buffer_begin_access(struct nvdla_buffer *buffer, uint32_t timeout_ms,
					    void **bytes);
void nvdla_buffer_end_access(struct nvdla_buffer *buffer);

/**
 * Read an input from, or write an output to a buffer instead of copying, in its layout
 *
 * buffer: NULL for a copy again. offset: a multiple of 32 bytes
 */
enum nvdla_status nvdla_request_bind_input(struct nvdla_request *request, size_t index,
					   const struct nvdla_buffer *buffer, uint64_t offset);
enum nvdla_status nvdla_request_bind_output(struct nvdla_request *request, size_t index,
					    const struct nvdla_buffer *buffer, uint64_t offset);

/** Zeroes stand for defaults */
struct nvdla_run_options {
	uint32_t timeout_ms; /**< time a job may take on the hardware */
	int32_t priority;    /**< -1 low, 0 normal, 1 high */
	uint32_t busy;	     /**< not 0: NVDLA_STATUS_BUSY instead of waiting for a full queue */
};

/**
 * error: what nvdla_last_error() would say, "" if all is well. Called in the thread
 * of the library's loop, where nothing may wait for a request.
 */
typedef void (*nvdla_callback)(struct nvdla_request *request, enum nvdla_status status,
			       const char *error, void *context);

/** options: may be NULL. Runs it and waits for the end. */
enum nvdla_status nvdla_request_run(struct nvdla_request *request,
				    const struct nvdla_run_options *options);
/** callback: may be NULL; is called once if this returns NVDLA_STATUS_OK */
enum nvdla_status nvdla_request_submit(struct nvdla_request *request,
				       const struct nvdla_run_options *options,
				       nvdla_callback callback, void *context);
/** timeout_ms: negative for as long as it takes. Return: what became of the last run. */
enum nvdla_status nvdla_request_wait(struct nvdla_request *request, int64_t timeout_ms);
/** From any thread */
void nvdla_request_cancel(struct nvdla_request *request);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif /* NVDLA_NVDLA_H */
