/* SPDX-License-Identifier: MIT */
/*
 * The runtime for C and for bindings of other languages.
 *
 * Objects are opaque; the caller that creates one frees it, and NULL may be freed. The descriptions
 * of the C++ classes in their headers (device.h, network.h, request.h, pool.h, event_loop.h,
 * device_watch.h, compiler.h) hold for the functions here that are named after a class, also about
 * threads.
 *
 * Structs begin with their size, which the caller sets to its sizeof: they grow at their ends,
 * and neither side accesses members that the other does not know. In structs that the library
 * reads, zero members stand for defaults. The only global state is the message of
 * nvdla_last_error(), one for each thread, and the loop that is shared if the caller names none.
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
struct nvdla_loop;
struct nvdla_network;
struct nvdla_pool;
struct nvdla_pool_answer;
struct nvdla_report;
struct nvdla_request;
struct nvdla_watch;
struct uv_loop_s;

/** Return: the library's version, such as "0.1.0" */
const char *nvdla_version(void);

/** Result of a call; the values after the first are those of nvdla::ErrorCode */
enum nvdla_status {
	NVDLA_STATUS_OK = 0,
	NVDLA_STATUS_INVALID_ARGUMENT, /**< an invalid argument */
	NVDLA_STATUS_INVALID_FILE,     /**< a file is damaged or has another format */
	NVDLA_STATUS_UNSUPPORTED,      /**< a valid request that this device does not support */
	NVDLA_STATUS_NOT_FOUND,	       /**< no such file */
	NVDLA_STATUS_NO_DEVICE,	       /**< no such device */
	NVDLA_STATUS_IO,	       /**< the operating system refused to read or write */
	NVDLA_STATUS_NO_MEMORY,	       /**< the host's memory or the device's memory is used up */
	NVDLA_STATUS_DEVICE_REFUSED,   /**< the driver refused the network */
	NVDLA_STATUS_DEVICE_FAILED,    /**< the device failed or was reset; it can be used again */
	NVDLA_STATUS_TIMEOUT,	       /**< a call took longer than allowed, or a job hung */
	NVDLA_STATUS_BUSY,	       /**< the request is in flight, or the queue is full */
	NVDLA_STATUS_CANCELLED,	       /**< the caller cancelled the request, or freed its network
					  or pool */
	NVDLA_STATUS_DEVICE_LOST,      /**< the device was removed, or its driver unbound */
};

/**
 * Return: the last error in this thread, with action, place and reason; never NULL, valid until
 * this thread calls another function of the library
 */
const char *nvdla_last_error(void);

/** Return: a short name such as "invalid-file" */
const char *nvdla_status_name(enum nvdla_status status);

/** Importance of a message; values not defined here are less important */
enum nvdla_log_level {
	NVDLA_LOG_WARNING = 0, /**< a failure, or work that continues with less than was
				*  requested */
	NVDLA_LOG_INFO = 1,    /**< progress of the library, for finding faults */
};

/**
 * message: one line of UTF-8, valid during the call. The function is called from any thread, from
 * several at once, and while requests wait for it, so it must not wait for a request.
 */
typedef void (*nvdla_log)(enum nvdla_log_level level, const char *message, void *context);

/** Options of opening a device */
struct nvdla_open_options {
	size_t size;	   /**< the caller's sizeof */
	nvdla_log log;	   /**< gets messages about the device, its networks and pools; or NULL */
	void *log_context; /**< passed to each call of log */
};

/** path: "/dev/accel/accelN", or "embedded" for a device model in this process. Options may follow,
 * as in "embedded:nv_small,fp16=fast"; nvdla-run(1) lists them. device: set to a device that the
 * caller frees */
enum nvdla_status nvdla_device_open(const char *path, struct nvdla_device **device);
/** Like nvdla_device_open(), with options, which may be NULL */
enum nvdla_status nvdla_device_open_with(const char *path, const struct nvdla_open_options *options,
					 struct nvdla_device **device);
/** Closes the device once no network or pool uses it */
void nvdla_device_free(struct nvdla_device *device);

/** path: path of a device that the kernel drives, valid during the call */
typedef void (*nvdla_found)(const char *path, void *context);
/** Calls found for each device that the kernel drives, in the order of their paths */
enum nvdla_status nvdla_enumerate(nvdla_found found, void *context);

/** Capabilities that some cores lack, as nvdla::Capability */
enum nvdla_capability {
	NVDLA_CAPABILITY_WINOGRAD = 1,
	NVDLA_CAPABILITY_COMPRESSION = 2,
	NVDLA_CAPABILITY_SDP_Y = 4,
};

/** Properties of a device; size is the caller's sizeof, and no more than that is written */
struct nvdla_device_info {
	size_t size;
	const char *path; /**< path of the device, which owns the text */
	uint32_t hw_version;
	uint32_t atom_bytes;	   /**< bytes of an atom, the alignment of feature data */
	uint32_t max_timeout_ms;   /**< largest nvdla_run_options.timeout_ms of the caller */
	uint32_t priorities;	   /**< bit n: the caller may use priority n - 1 */
	uint32_t has_statistics;   /**< not 0: the core has counters */
	uint32_t has_dma_buf;	   /**< not 0: buffers can be exported and imported */
	uint64_t max_buffer_bytes; /**< size of the largest buffer, in bytes */
	uint64_t on_chip_bytes;	   /**< size of on-chip memory in bytes; 0: none */
	uint64_t core_clock_hz;	   /**< present clock of the core; 0 if not known */
	/** Name of the core's configuration, "nv_full"; "" for one that only a newer driver
	 * knows */
	const char *variant;
	/**
	 * bit n: the device runs operations of engine n, in the order BDMA, CONV, SDP, PDP, CDP,
	 * RUBIK
	 */
	uint32_t engines;
	uint32_t precisions;		/**< bit 0: INT8, 1: INT16, 2: FP16 */
	uint32_t capabilities;		/**< bits of enum nvdla_capability */
	uint32_t max_batch;		/**< largest number of cubes (images) in one convolution */
	uint32_t weight_alignment;	/**< alignment of addresses of weights, bytes */
	uint32_t weight_size_alignment; /**< alignment of sizes of weights, bytes */
	/** channels that a MAC cell takes at a time; also the channels of a block of weights */
	uint32_t mac_channels;
	uint32_t int8_kernels; /**< kernels in a kernel group of INT8; INT16 and FP16: half as
				  many */
	uint32_t buffer_banks; /**< banks of the convolution buffer */
	uint32_t bank_entries; /**< entries in a bank of the convolution buffer */
	uint32_t entry_bytes;  /**< bytes of an entry of the convolution buffer */
};

enum nvdla_status nvdla_device_get_info(const struct nvdla_device *device,
					struct nvdla_device_info *info);

/** Create a loop with a thread of its own, which runs callbacks; networks, pools and watches hold
 * references to it */
enum nvdla_status nvdla_loop_create(struct nvdla_loop **loop);
/** Like EventLoop::attach(). uv_loop: loop of libuv, which the caller runs */
enum nvdla_status nvdla_loop_attach(struct uv_loop_s *uv_loop, struct nvdla_loop **loop);
void nvdla_loop_free(struct nvdla_loop *loop);

/** path: valid during the call. present: 0 for a device that disappeared */
typedef void (*nvdla_device_event)(const char *path, int present, void *context);
/**
 * Report devices that appear and disappear, in the loop's thread, beginning with the existing ones
 *
 * loop: NULL for the shared loop
 */
enum nvdla_status nvdla_watch_create(struct nvdla_loop *loop, nvdla_device_event event,
				     void *context, struct nvdla_watch **watch);
/** After this function the event callback is not called any more; the callback may call this
 * function */
void nvdla_watch_free(struct nvdla_watch *watch);

/** Order of the axes of plain elements; the last axis changes fastest */
enum nvdla_element_order {
	NVDLA_ORDER_MODEL = 0, /**< nvdla_tensor_info.order of each tensor */
	NVDLA_ORDER_NCHW = 1,
	NVDLA_ORDER_NHWC = 2,
};

/** Options of loading a network onto a device */
struct nvdla_load_options {
	size_t size;		 /**< the caller's sizeof */
	uint32_t slots;		 /**< maximum number of runs in flight */
	uint32_t max_queued;	 /**< maximum number of waiting requests */
	struct nvdla_loop *loop; /**< loop whose thread runs callbacks; NULL: the shared loop */
	uint32_t order;		 /**< enum nvdla_element_order of the caller's elements and
				    numbers */
};

/** Like nvdla_network_load(), with options, which may be NULL */
enum nvdla_status nvdla_network_load_with(struct nvdla_device *device, const void *data,
					  size_t size, const struct nvdla_load_options *options,
					  struct nvdla_network **network);
enum nvdla_status nvdla_network_load_file(struct nvdla_device *device, const char *path,
					  struct nvdla_network **network);
/** data: a whole loadable, not needed afterwards */
enum nvdla_status nvdla_network_load(struct nvdla_device *device, const void *data, size_t size,
				     struct nvdla_network **network);
/** Cancels runs in flight and waits for their callbacks; in a callback, does not wait */
void nvdla_network_free(struct nvdla_network *network);

/** Type of an element */
enum nvdla_data_type {
	NVDLA_DATA_UNKNOWN = 0,
	NVDLA_DATA_FLOAT = 1,
	NVDLA_DATA_HALF = 2,
	NVDLA_DATA_INT16 = 3,
	NVDLA_DATA_INT8 = 4,
	/* Types of tensors with which only a library of the host computes */
	NVDLA_DATA_INT32 = 32,
	NVDLA_DATA_INT64 = 33,
	NVDLA_DATA_BOOL = 34, /**< a byte, 0 or 1 */
	NVDLA_DATA_UINT8 = 35,
};

/** Shape and layout of a tensor; size is the caller's sizeof, and no more than that is written */
struct nvdla_tensor_info {
	size_t size;
	const char *name; /**< name of the tensor; owned by the network or the pool */
	enum nvdla_data_type type;
	uint32_t n;
	uint32_t c;
	uint32_t h;
	uint32_t w;
	uint32_t pixel_format;	  /**< value of nvdla::PixelFormat */
	uint32_t line_stride;	  /**< bytes from line to line */
	uint32_t surface_stride;  /**< bytes from surface to surface, or from plane to plane */
	size_t element_bytes;	  /**< bytes of all elements */
	size_t tensor_bytes;	  /**< bytes of the tensor in the device's layout, with gaps */
	size_t num_elements;	  /**< number of elements, n * c * h * w */
	uint32_t is_unsigned;	  /**< not 0: unsigned integers, such as pixels */
	size_t num_quantizations; /**< 0: none; 1: for all channels; c: one per channel */
	enum nvdla_element_order order; /**< order of the model's axes; NCHW without a model */
	size_t rank; /**< number of the model's axes; 0: the loadable does not describe its model */
	/** Lengths of the model's axes, NVDLA_OPEN_AXIS for open ones, each of which the other
	 * members count as 1; same owner as name */
	const uint32_t *shape;
};

/** Length of an open axis of an output: one that depends on the inputs' numbers, and differs from
 * run to run */
#define NVDLA_OPEN_AXIS UINT32_MAX

size_t nvdla_network_num_inputs(const struct nvdla_network *network);
size_t nvdla_network_num_outputs(const struct nvdla_network *network);
enum nvdla_status nvdla_network_input_info(const struct nvdla_network *network, size_t index,
					   struct nvdla_tensor_info *info);
enum nvdla_status nvdla_network_output_info(const struct nvdla_network *network, size_t index,
					    struct nvdla_tensor_info *info);

/**
 * Set the quantization of an input or output: real = scale * (element - zero_point);
 * nvdla_request_set_input_float() and nvdla_request_get_output_float() use it
 *
 * scales, zero_points: count elements each: 0 (elements are the real numbers), 1, or one per
 * channel
 */
enum nvdla_status nvdla_network_set_input_quantization(struct nvdla_network *network, size_t index,
						       const double *scales,
						       const int32_t *zero_points, size_t count);
enum nvdla_status nvdla_network_set_output_quantization(struct nvdla_network *network, size_t index,
							const double *scales,
							const int32_t *zero_points, size_t count);
/** scales, zero_points: room for count elements each. count: nvdla_tensor_info.num_quantizations */
enum nvdla_status nvdla_network_get_input_quantization(const struct nvdla_network *network,
						       size_t index, double *scales,
						       int32_t *zero_points, size_t count);
enum nvdla_status nvdla_network_get_output_quantization(const struct nvdla_network *network,
							size_t index, double *scales,
							int32_t *zero_points, size_t count);

/** Create a request, which runs a network; used by one thread at a time, except
 * nvdla_request_cancel() */
enum nvdla_status nvdla_request_create(struct nvdla_network *network,
				       struct nvdla_request **request);
/** Cancels a request in flight; its callback is still called, with a NULL request, perhaps after
 * this function. Waits for a callback that runs in another thread */
void nvdla_request_free(struct nvdla_request *request);

/** elements: nvdla_tensor_info.element_bytes bytes, in nvdla_load_options.order */
enum nvdla_status nvdla_request_set_input(struct nvdla_request *request, size_t index,
					  const void *elements, size_t bytes);
/** values: nvdla_tensor_info.num_elements real numbers in nvdla_load_options.order; this function
 * quantizes them */
enum nvdla_status nvdla_request_set_input_float(struct nvdla_request *request, size_t index,
						const float *values, size_t count);
/** tensor: nvdla_tensor_info.tensor_bytes bytes in the tensor's layout */
enum nvdla_status nvdla_request_set_input_tensor(struct nvdla_request *request, size_t index,
						 const void *tensor, size_t bytes);
/** elements: room for nvdla_tensor_info.element_bytes bytes, in nvdla_load_options.order */
enum nvdla_status nvdla_request_get_output(const struct nvdla_request *request, size_t index,
					   void *elements, size_t bytes);
/** shape: room for nvdla_tensor_info.rank lengths of axes; an open axis has its length in the last
 * run, 0 or more. An output with open axes has the elements of this shape */
enum nvdla_status nvdla_request_get_output_shape(const struct nvdla_request *request, size_t index,
						 uint32_t *shape, size_t rank);
/**
 * values: room for nvdla_tensor_info.num_elements dequantized numbers, in nvdla_load_options.order
 */
enum nvdla_status nvdla_request_get_output_float(const struct nvdla_request *request, size_t index,
						 float *values, size_t count);
/** tensor: room for nvdla_tensor_info.tensor_bytes bytes in the tensor's layout */
enum nvdla_status nvdla_request_get_output_tensor(const struct nvdla_request *request, size_t index,
						  void *tensor, size_t bytes);

/** Allocate zeroed memory that the device can access; size: bytes */
enum nvdla_status nvdla_buffer_create(struct nvdla_device *device, size_t size,
				      struct nvdla_buffer **buffer);
/** fd: descriptor of a dma-buf, which the caller still owns */
enum nvdla_status nvdla_buffer_import(struct nvdla_device *device, int fd,
				      struct nvdla_buffer **buffer);
/** Frees the buffer object. Requests that use the buffer, and exported dma-bufs, keep its memory */
void nvdla_buffer_free(struct nvdla_buffer *buffer);
size_t nvdla_buffer_size(const struct nvdla_buffer *buffer);
/** fd: set to the descriptor of a dma-buf, which the caller closes */
enum nvdla_status nvdla_buffer_export(const struct nvdla_buffer *buffer, int *fd);
/** Wait until no job uses the buffer. bytes: set to the first byte of the buffer, which the caller
 * may read and write until nvdla_buffer_end_access(). timeout_ms: longest wait, after which
 * NVDLA_STATUS_TIMEOUT is returned */
enum nvdla_status nvdla_buffer_begin_access(struct nvdla_buffer *buffer, uint32_t timeout_ms,
					    void **bytes);
void nvdla_buffer_end_access(struct nvdla_buffer *buffer);

/**
 * Let the network read an input from a buffer, or write an output to it, in the tensor's layout,
 * without a copy
 *
 * buffer: NULL to unbind the buffer and copy the tensor again. offset: bytes, a multiple of
 * nvdla_device_info.atom_bytes
 */
enum nvdla_status nvdla_request_bind_input(struct nvdla_request *request, size_t index,
					   const struct nvdla_buffer *buffer, uint64_t offset);
enum nvdla_status nvdla_request_bind_output(struct nvdla_request *request, size_t index,
					    const struct nvdla_buffer *buffer, uint64_t offset);

/** Options of a run */
struct nvdla_run_options {
	size_t size; /**< the caller's sizeof */
	/** longest time on the hardware in which no operation of a job begins or ends; 0: 30000 */
	uint32_t timeout_ms;
	int32_t priority; /**< -1 low, 0 normal, 1 high */
	/** not 0: return NVDLA_STATUS_BUSY if the queue is full; 0: wait for room */
	uint32_t busy;
	uint32_t statistics; /**< not 0: enable the core's counters; needs has_statistics */
};

/**
 * error: the text of nvdla_last_error(), "" on success. Called in the thread of the library's
 * loop, where nothing may wait for a request.
 */
typedef void (*nvdla_callback)(struct nvdla_request *request, enum nvdla_status status,
			       const char *error, void *context);

/** Run the request and wait for its end. options: may be NULL. */
enum nvdla_status nvdla_request_run(struct nvdla_request *request,
				    const struct nvdla_run_options *options);
/** callback: may be NULL; called once if this function returns NVDLA_STATUS_OK */
enum nvdla_status nvdla_request_submit(struct nvdla_request *request,
				       const struct nvdla_run_options *options,
				       nvdla_callback callback, void *context);
/** timeout_ms: longest wait; negative: no limit. Return: result of the last run. */
enum nvdla_status nvdla_request_wait(struct nvdla_request *request, int64_t timeout_ms);
/** Cancel a request; any thread may call this */
void nvdla_request_cancel(struct nvdla_request *request);

/** Options of a pool */
struct nvdla_pool_options {
	size_t size;		 /**< the caller's sizeof */
	uint32_t slots;		 /**< maximum number of requests on each device */
	uint32_t max_pending;	 /**< maximum number of requests without an answer */
	struct nvdla_loop *loop; /**< loop whose thread runs callbacks; NULL: the shared loop */
};

/** devices: count devices, 1 or more, which the pool keeps open. options: may be NULL */
enum nvdla_status nvdla_pool_create(struct nvdla_device *const *devices, size_t count,
				    const struct nvdla_pool_options *options,
				    struct nvdla_pool **pool);
/** Cancels pending requests and waits for their callbacks; in a callback, does not wait */
void nvdla_pool_free(struct nvdla_pool *pool);
/** data: a whole loadable, not needed afterwards. network: set to the network's number in the
 * pool */
enum nvdla_status nvdla_pool_add_network(struct nvdla_pool *pool, const void *data, size_t size,
					 size_t *network);
/** Add a device, for requests from now on */
enum nvdla_status nvdla_pool_add_device(struct nvdla_pool *pool, struct nvdla_device *device);

/** Return: number of inputs; 0 for an unknown network */
size_t nvdla_pool_num_inputs(const struct nvdla_pool *pool, size_t network);
size_t nvdla_pool_num_outputs(const struct nvdla_pool *pool, size_t network);
enum nvdla_status nvdla_pool_input_info(const struct nvdla_pool *pool, size_t network, size_t index,
					struct nvdla_tensor_info *info);
enum nvdla_status nvdla_pool_output_info(const struct nvdla_pool *pool, size_t network,
					 size_t index, struct nvdla_tensor_info *info);
/**
 * Pack the elements of an input into the tensor's layout
 *
 * order: of the elements. bytes: nvdla_tensor_info.element_bytes. tensor_bytes:
 * nvdla_tensor_info.tensor_bytes
 */
enum nvdla_status nvdla_pool_pack_input(const struct nvdla_pool *pool, size_t network, size_t index,
					enum nvdla_element_order order, const void *elements,
					size_t bytes, void *tensor, size_t tensor_bytes);

/** A request to run a network of a pool */
struct nvdla_pool_request {
	size_t size;		   /**< the caller's sizeof */
	size_t network;		   /**< number from nvdla_pool_add_network() */
	const void *const *inputs; /**< a tensor for each input, in its layout; copied */
	size_t num_inputs;
	uint64_t stream; /**< requests of a stream (any number) are answered in order */
	const struct nvdla_run_options *options; /**< may be NULL */
};

/** answer: NULL unless status is NVDLA_STATUS_OK, valid during the call; the other arguments are
 * those of nvdla_callback */
typedef void (*nvdla_pool_callback)(const struct nvdla_pool_answer *answer,
				    enum nvdla_status status, const char *error, void *context);
/** callback: called once if this function returns NVDLA_STATUS_OK */
enum nvdla_status nvdla_pool_submit(struct nvdla_pool *pool,
				    const struct nvdla_pool_request *request,
				    nvdla_pool_callback callback, void *context);
/**
 * Submit a request and wait for its answer, which the caller frees; must not be called in the
 * loop's thread
 */
enum nvdla_status nvdla_pool_run(struct nvdla_pool *pool, const struct nvdla_pool_request *request,
				 struct nvdla_pool_answer **answer);
/** Free an answer of nvdla_pool_run() */
void nvdla_pool_answer_free(struct nvdla_pool_answer *answer);
/** Return: index of the device that computed the answer, in the order of nvdla_pool_use() */
size_t nvdla_pool_answer_device(const struct nvdla_pool_answer *answer);
/** elements: room for nvdla_tensor_info.element_bytes bytes of an output, in the given order */
enum nvdla_status nvdla_pool_answer_get_output(const struct nvdla_pool_answer *answer, size_t index,
					       enum nvdla_element_order order, void *elements,
					       size_t bytes);
/** tensor: room for nvdla_tensor_info.tensor_bytes bytes of an output, in its layout */
enum nvdla_status nvdla_pool_answer_get_output_tensor(const struct nvdla_pool_answer *answer,
						      size_t index, void *tensor, size_t bytes);
/** Like nvdla_request_get_output_shape(), for an output of the answer */
enum nvdla_status nvdla_pool_answer_get_output_shape(const struct nvdla_pool_answer *answer,
						     size_t index, uint32_t *shape, size_t rank);
/** report: set to a report that the caller frees */
enum nvdla_status nvdla_pool_answer_get_report(const struct nvdla_pool_answer *answer,
					       struct nvdla_report **report);

/** Use of a device by a pool; size is the library's sizeof, beyond which there are no members */
struct nvdla_device_use {
	size_t size;
	const char *path;   /**< valid during the call */
	uint32_t lost;	    /**< not 0: the device is gone and gets no more requests */
	uint32_t running;   /**< requests that are on the device now */
	uint64_t completed; /**< requests that the device answered, with or without error */
	uint64_t moved;	    /**< requests moved to another device when this one was lost */
	uint64_t busy_ns;   /**< time during which the device had at least one request */
};

typedef void (*nvdla_use_found)(const struct nvdla_device_use *use, void *context);
/** Calls found for each device, in the order of nvdla_pool_create() and nvdla_pool_add_device() */
enum nvdla_status nvdla_pool_use(const struct nvdla_pool *pool, nvdla_use_found found,
				 void *context);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#include <nvdla/nvdla_model.h>
#include <nvdla/nvdla_report.h>

#endif /* NVDLA_NVDLA_H */
