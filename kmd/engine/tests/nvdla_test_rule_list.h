/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rules for a submit, as one list of
 *
 *	NVDLA_RULE(name, text, source)
 *
 * The file that includes this one defines the macro NVDLA_RULE. Tests call a rule by its name. The
 * text is the engine's error message. The source says where the rule comes from: a section of
 * NVDLA's programming guide ("guide"), of its precision document or of its in-memory format
 * document ("formats"), "registers" (the width of a field), "hardware" (what the hardware does
 * where the documents are silent) or "driver" (needed to stay inside the memory that a task was
 * given, or to come to an end).
 */
/* Submit and address table */
NVDLA_RULE(SUBMIT_COUNT, "not in the accepted range", "driver")
NVDLA_RULE(SUBMIT_SIZE, "no size that an element of this array can have", "driver")
NVDLA_RULE(SUBMIT_FLAGS, "unknown flag", "driver")
NVDLA_RULE(SUBMIT_RESULT, "statistics and an offset need a buffer for the result", "driver")
NVDLA_RULE(ADDRESS_RESERVED, "must be zero", "driver")
NVDLA_RULE(ADDRESS_HANDLE, "no such buffer", "driver")
NVDLA_RULE(ADDRESS_RANGE, "behind the end of the buffer", "driver")

/* Task */
NVDLA_RULE(TASK_NUM_OPERATIONS, "a task needs at least one operation and has an upper limit",
	   "driver")
NVDLA_RULE(TASK_NUM_LUTS, "too many look-up tables", "driver")
NVDLA_RULE(TASK_NUM_ADDRESSES, "a task needs at least one address and has an upper limit",
	   "driver")
NVDLA_RULE(TASK_RESERVED, "must be zero", "driver")
NVDLA_RULE(TASK_PREPARED, "a prepared task has its descriptors already", "driver")
NVDLA_RULE(TASK_TEMPLATE, "a task that is prepared gets its addresses later", "driver")
NVDLA_RULE(TASK_PREPARED_ADDRESSES, "the task was prepared with another number of addresses",
	   "driver")

/* Task graph */
NVDLA_RULE(NODE_OP_TYPE, "no such engine", "driver")
NVDLA_RULE(NODE_ENGINE, "this core has no such engine", "driver")
NVDLA_RULE(NODE_ROI, "regions of interest are not supported", "driver")
NVDLA_RULE(EDGE_INDEX, "the graph has no such node", "driver")
NVDLA_RULE(EDGE_SELF, "an operation cannot wait for itself", "driver")
NVDLA_RULE(EDGE_ENGINE, "the node at this index runs on another engine", "driver")
NVDLA_RULE(EDGE_EVENT, "no such event", "driver")
NVDLA_RULE(EDGE_EVENT_ENGINE, "only a convolution has fetch events", "driver")
NVDLA_RULE(FUSED_NO_CONSUMER, "no operation takes this output stream", "driver")
NVDLA_RULE(FUSED_NO_PRODUCER, "no operation produces this input stream", "driver")
NVDLA_RULE(FUSED_ORDER,
	   "fused operations are not in the order in which their engines run them", "driver")
NVDLA_RULE(FUSED_SIZE, "the producer's stream has another size", "driver")
NVDLA_RULE(FUSED_PRECISION, "the producer's stream has another precision", "driver")
NVDLA_RULE(FUSED_BATCH, "the producer's stream has another number of batches", "driver")
NVDLA_RULE(FUSED_MODE, "the producer's convolution mode differs", "driver")
NVDLA_RULE(GRAPH_STUCK, "the operation never becomes ready: its dependencies form a cycle",
	   "driver")

/* Memory */
NVDLA_RULE(CUBE_MEM_TYPE, "no such memory type for this cube", "driver")
NVDLA_RULE(CUBE_NO_CVSRAM, "this core has no on-chip memory", "driver")
NVDLA_RULE(CUBE_ADDRESS, "the task has no such address", "driver")
NVDLA_RULE(CUBE_ABSENT, "no memory was given for this address", "driver")
NVDLA_RULE(CUBE_WRONG_MEMORY, "the address lies in another kind of memory", "driver")
NVDLA_RULE(CUBE_EXTENT, "the cube reaches beyond the memory of its address", "driver")
NVDLA_RULE(CUBE_OVERFLOW, "the size of the cube overflows", "driver")
NVDLA_RULE(CUBE_ADDRESS_BITS, "the core cannot address this memory", "driver")
NVDLA_RULE(CUBE_ALIGNMENT, "the address is not aligned as this kind of data needs",
	   "guide, Limitation, Data Format")
NVDLA_RULE(CUBE_EMPTY, "a dimension is zero", "driver")
NVDLA_RULE(CUBE_STRIDE_ALIGNMENT, "the stride is not aligned as this kind of data needs",
	   "guide, Limitation, Data Format")
NVDLA_RULE(CUBE_LINE_STRIDE, "a line does not fit its stride",
	   "guide, Limitation, Data Format")
NVDLA_RULE(CUBE_PACKED, "a 1x1 cube has to be line packed and surface packed",
	   "guide, Limitation, Data Format")

/* Operations of any engine */
NVDLA_RULE(OPERATION_NAN, "NaN is flushed by 1, by engines that read FP16", "precision, NaN")
NVDLA_RULE(OPERATION_RESERVED, "must be zero", "driver")

/* Registers */
NVDLA_RULE(FIELD_WIDTH, "the value does not fit its register field", "registers")

/* BDMA */
NVDLA_RULE(BDMA_TRANSFERS, "more transfers than the engine queues", "guide, BDMA programming")
NVDLA_RULE(BDMA_LINE_SIZE, "a line is a multiple of 32 bytes, 32 to 262144",
	   "guide, BDMA programming")
NVDLA_RULE(BDMA_REPEAT, "lines and surfaces are repeated 1 to 8192 times",
	   "guide, BDMA programming")
NVDLA_RULE(BDMA_STRIDE_ALIGNMENT, "strides are multiples of 32 bytes",
	   "guide, Limitation, Data Format")
NVDLA_RULE(BDMA_STRIDE, "a line does not fit its stride", "guide, Limitation, Data Format")

/* Convolution */
NVDLA_RULE(CONV_MODE, "no such convolution mode", "registers")
NVDLA_RULE(CONV_FLAG, "a flag is 0 or 1", "registers")
NVDLA_RULE(CONV_FORMAT, "no such data format", "formats, pixel formats")
NVDLA_RULE(CONV_PIXEL_MAPPING, "only pitch linear images are supported",
	   "formats, pixel formats")
NVDLA_RULE(CONV_PRECISION, "no such precision", "registers")
NVDLA_RULE(CONV_PRECISION_PAIR, "the convolution cannot convert between these precisions",
	   "guide, Limitation, Data Format")
NVDLA_RULE(CONV_PIXEL_PRECISION, "the pixel format has another input precision",
	   "guide, Limitation, Data Format")
NVDLA_RULE(CONV_PIXEL_CHANNELS, "the pixel format has another number of channels",
	   "formats, pixel formats")
NVDLA_RULE(CONV_DST_TYPE, "a convolution's output goes to SDP, not to memory",
	   "guide, Convolution")
NVDLA_RULE(CONV_OUT_CVT, "the output converter only truncates: scale 1, offset 0",
	   "registers")
NVDLA_RULE(CONV_CSC_SIZE, "the input size for CSC does not follow from the input cube",
	   "guide, Convolution, DATAIN_SIZE_EXT")
NVDLA_RULE(CONV_CMAC_SIZE, "the output size differs from that of the output cube",
	   "guide, Convolution, DATAOUT_SIZE")
NVDLA_RULE(CONV_KERNEL_SIZE, "the kernel size for CSC does not fit the mode",
	   "guide, Limitation, Convolution, Winograd")
NVDLA_RULE(CONV_OUTPUT_SIZE,
	   "the output size does not follow from input, kernel, padding and stride",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_PADDING, "the padding is not less than the kernel",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_STRIDE, "strides are 1 to 8", "registers")
NVDLA_RULE(CONV_DILATION, "dilations are 1 to 32", "registers")
NVDLA_RULE(CONV_DILATION_CROSSING, "dilation works with direct convolution of features only",
	   "guide, Limitation, Convolution, feature crossing")
NVDLA_RULE(CONV_BATCH, "no number of cubes that a batch of this core can have", "registers")
NVDLA_RULE(CONV_BATCH_CROSSING, "batches work with direct convolution of features only",
	   "guide, Limitation, Convolution, feature crossing")
NVDLA_RULE(CONV_POST_EXTENSION, "no such channel post-extension", "formats, post-extension")
NVDLA_RULE(CONV_POST_CROSSING, "channel post-extension works with images only",
	   "guide, Limitation, Convolution, feature crossing")
NVDLA_RULE(CONV_POST_CHANNELS, "too many channels for this channel post-extension",
	   "guide, Limitation, Convolution, Image")
NVDLA_RULE(CONV_WINOGRAD_FORMAT, "winograd works with features only",
	   "guide, Limitation, Convolution, feature crossing")
NVDLA_RULE(CONV_WINOGRAD_OUTPUT, "winograd needs an output of 8 or more, divisible by 4",
	   "guide, Limitation, Convolution, Winograd")
NVDLA_RULE(CONV_PRA_TRUNCATE, "the pre-addition truncates by 0, 1 or 2", "hardware")
NVDLA_RULE(CONV_BANKS, "data and weights need more banks than there are",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_DATA_BANKS, "the input does not fit its banks",
	   "guide, Convolution, working modes")
NVDLA_RULE(CONV_WEIGHT_BANKS,
	   "a kernel group and what is fetched with it do not fit its banks",
	   "guide, Limitation, Convolution, General; hardware")
NVDLA_RULE(CONV_WMB_BANK, "the mask of a kernel group does not fit its bank",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_ENTRIES, "the entries per slice do not follow from the input",
	   "guide, Convolution, D_ENTRY_PER_SLICE")
NVDLA_RULE(CONV_RELEASE, "more slices are released than there are",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_BYTES_PER_KERNEL, "the bytes per kernel do not follow from the kernel's size",
	   "guide, Convolution, WEIGHT_BYTES")
NVDLA_RULE(CONV_WEIGHT_SIZE, "the size of the weights does not follow from the kernels",
	   "guide, Convolution, WEIGHT_BYTES")
NVDLA_RULE(CONV_WEIGHT_FORMAT, "no such weight format", "registers")
NVDLA_RULE(CONV_NO_COMPRESSION, "this core does not decompress weights", "driver")
NVDLA_RULE(CONV_WMB_SIZE, "the size of the mask surface does not follow from the kernels",
	   "formats, sparse compression")
NVDLA_RULE(CONV_WEIGHT_MEMORY,
	   "weights, their mask and group sizes lie in the same kind of memory",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_DATA_REUSE,
	   "no convolution of this task comes before it and leaves data to reuse", "driver")
NVDLA_RULE(CONV_DATA_REUSE_LINES, "the input lines are not those that are kept and fetched",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_DATA_REUSE_MODE, "data is reused with the same mode and banks only",
	   "guide, Limitation, Convolution, General")
NVDLA_RULE(CONV_WEIGHT_REUSE,
	   "the previous convolution of this task leaves no weights to reuse",
	   "guide, Convolution, WEIGHT_REUSE")
NVDLA_RULE(CONV_WEIGHT_REUSE_SIZE,
	   "the previous convolution's weights have another shape or place",
	   "guide, Convolution, WEIGHT_REUSE")
NVDLA_RULE(CONV_WEIGHT_KEPT,
	   "weights that are not released do not fit their banks at once", "hardware")
NVDLA_RULE(CONV_DATA_REUSE_SHAPE,
	   "the lines that are kept have another shape or format", "hardware")
NVDLA_RULE(CONV_PIXEL_X_OFFSET,
	   "the first pixel of an image is in the atom that its address names",
	   "guide, PIXEL_X_OFFSET")
NVDLA_RULE(CONV_NO_WINOGRAD, "this core has no winograd mode", "driver")
NVDLA_RULE(CONV_FETCH_GRAIN, "this core fetches one line at a time if lines are not packed",
	   "hardware")
NVDLA_RULE(CONV_IMAGE_STRIDE, "this core's windows of an image cannot skip columns",
	   "hardware")

/* SDP */
NVDLA_RULE(SDP_PRECISION, "no such precision", "registers")
NVDLA_RULE(SDP_PRECISION_PAIR, "SDP cannot convert between these precisions",
	   "guide, Limitation, Data Format")
NVDLA_RULE(SDP_FLYING_PRECISION, "INT16 to INT8 does not work on the fly", "hardware")
NVDLA_RULE(SDP_PDP_PRECISION, "no conversion is possible on the way to PDP",
	   "guide, Limitation, SDP, DC")
NVDLA_RULE(SDP_MODE, "no such convolution mode", "registers")
NVDLA_RULE(SDP_OFFLINE, "winograd and batches need the convolution's stream",
	   "guide, Limitation, SDP, Winograd/Batch")
NVDLA_RULE(SDP_BATCH, "no number of cubes that a batch of this core can have", "registers")
NVDLA_RULE(SDP_BATCH_ALIGNMENT,
	   "with batches, addresses and strides are multiples of two atoms",
	   "guide, Limitation, SDP, Winograd/Batch")
NVDLA_RULE(SDP_SIZE, "input, operands and output have to have the same size",
	   "guide, SDP programming")
NVDLA_RULE(SDP_UNIT_FLAG, "a unit is enabled by 1 and disabled by 0", "driver")
NVDLA_RULE(SDP_UNIT_TYPE, "no such kind of operation", "driver")
NVDLA_RULE(SDP_UNIT_MODE, "no such operand mode", "driver")
NVDLA_RULE(SDP_ALU_TYPE, "no such ALU function", "registers")
NVDLA_RULE(SDP_ACTIVATION, "the unit does not have this activation", "registers")
NVDLA_RULE(SDP_OPERAND, "the operand does not fit its register", "registers")
NVDLA_RULE(SDP_OPERAND_PRECISION, "the operands' precision does not fit the pipeline's",
	   "formats, bias data format")
NVDLA_RULE(SDP_PRELU, "PReLU needs the multiplier, with the ALU bypassed",
	   "guide, Limitation, SDP, General")
NVDLA_RULE(SDP_LUT, "the activation needs a look-up table of this task", "driver")
NVDLA_RULE(SDP_FP16_CVT, "with FP16, operands from memory need their converter enabled",
	   "guide, Limitation, SDP, General")
NVDLA_RULE(SDP_EQL_UNIT, "a comparison needs the ALU alone, without converter and activation",
	   "guide, Limitation, SDP, General")
NVDLA_RULE(SDP_EQL_MODE,
	   "a comparison works without winograd, batches and precision conversion",
	   "guide, Limitation, SDP, Winograd/Batch")
NVDLA_RULE(SDP_EQL_DST, "a comparison has no output for PDP", "guide, SDP, Compare mode")
NVDLA_RULE(SDP_NO_Y, "this core's SDP has no unit Y", "driver")

/* Look-up tables */
NVDLA_RULE(LUT_METHOD, "no such look-up method", "registers")
NVDLA_RULE(LUT_PRIORITY, "a priority is LE or LO", "registers")
NVDLA_RULE(LUT_OFFSET, "the index offset exceeds the engine's range",
	   "guide, Limitation, LUT")
NVDLA_RULE(LUT_LE_SELECT, "the index select of LE exceeds the engine's range",
	   "guide, Limitation, LUT")
NVDLA_RULE(LUT_LO_SELECT, "the index select of LO exceeds the engine's range",
	   "guide, Limitation, LUT")
NVDLA_RULE(LUT_START, "an FP16 table that starts here ends where it starts",
	   "guide, Limitation, LUT")
NVDLA_RULE(LUT_RANGE, "a start or end exceeds the engine's range", "registers")
NVDLA_RULE(LUT_SHIFT, "a slope is shifted by -16 to 15", "registers")

/* PDP */
NVDLA_RULE(PDP_PRECISION, "no such precision", "registers")
NVDLA_RULE(PDP_POOL_MODE, "no such pooling mode", "registers")
NVDLA_RULE(PDP_KERNEL, "kernels are 1 to 8 wide and high", "guide, Limitation, PDP")
NVDLA_RULE(PDP_STRIDE, "strides are 1 to 16", "registers")
NVDLA_RULE(PDP_PADDING, "the padding is not less than the kernel", "guide, Limitation, PDP")
NVDLA_RULE(PDP_PADDING_VALUE, "with FP16 padding values are zero", "precision, PDP")
NVDLA_RULE(PDP_WINDOW_WIDTH, "the windows do not use each input column exactly",
	   "guide, Limitation, PDP")
NVDLA_RULE(PDP_WINDOW_HEIGHT, "the windows do not use each input line exactly",
	   "guide, Limitation, PDP")
NVDLA_RULE(PDP_CHANNELS, "input and output have to have the same channels",
	   "guide, PDP programming")
NVDLA_RULE(PDP_DST_TYPE, "the output goes to memory", "guide, PDP programming")
NVDLA_RULE(PDP_SPLIT, "a cube is split into 1 to 64 parts", "registers")
NVDLA_RULE(PDP_SPLIT_FLYING, "a stream cannot be split", "guide, PDP, On-the-fly processing")
NVDLA_RULE(PDP_SPLIT_OUT, "the widths of the parts do not add up to the output",
	   "guide, Limitation, PDP")
NVDLA_RULE(PDP_SPLIT_IN, "the input width of a part does not follow from its output width",
	   "guide, Limitation, PDP")
NVDLA_RULE(PDP_SPLIT_OVERLAP,
	   "what windows share or skip between parts does not fit into a part",
	   "guide, Limitation, PDP")
NVDLA_RULE(PDP_LINE_BUFFER, "the output is too wide for the line buffer",
	   "guide, Limitation, PDP")

/* CDP */
NVDLA_RULE(CDP_PRECISION, "no such precision", "registers")
NVDLA_RULE(CDP_PRECISION_PAIR, "CDP does not convert between precisions",
	   "guide, Limitation, Data Format")
NVDLA_RULE(CDP_LOCAL_SIZE, "the local size is 3, 5, 7 or 9", "guide, Limitation, CDP")
NVDLA_RULE(CDP_FLAG, "a flag is 0 or 1", "registers")
NVDLA_RULE(CDP_SIZE, "input and output have to have the same size", "guide, CDP programming")
NVDLA_RULE(CDP_LUT, "CDP needs a look-up table of this task", "driver")

/* RUBIK */
NVDLA_RULE(RUBIK_MODE, "no such mode", "registers")
NVDLA_RULE(RUBIK_PRECISION, "no such precision", "registers")
NVDLA_RULE(RUBIK_STRIDE, "strides are 1 to 32", "registers")
NVDLA_RULE(RUBIK_WIDTH, "the output is wider than 8192", "guide, Limitation, Rubik")
NVDLA_RULE(RUBIK_SIZE, "the output's size does not follow from the input's",
	   "guide, Rubik programming")
NVDLA_RULE(RUBIK_PLANE_STRIDE, "a plane does not fit its stride", "guide, Rubik programming")

#undef NVDLA_RULE
